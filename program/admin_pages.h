#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "base/limits.h"

namespace CLI {
class App;
}

namespace ringside::program {

// The admin pages of a tier's processes, as commands ask them.
struct AdminPages {
  std::vector<Endpoint> addresses{{"127.0.0.1", 9090}};
  std::string token{};  // of their --admin-token-file; empty: none
};

// What was written of them; the meaning is read afterwards.
struct AdminTexts {
  std::string addresses;
  std::string token_file;
};
// `--admin`, for one or for all of a tier's processes, with what it is asked for, and
// `--admin-token-file`.
void add_admin_flags(CLI::App& app, AdminTexts& texts, const std::string& help);
void add_admin_token_flag(CLI::App& app, AdminTexts& texts);
[[nodiscard]] Result<void> read_admin_flags(const AdminTexts& texts, AdminPages& out);

// The body of an answer of such a status. The Error of any other one tells what was said there, and
// what to do about it.
[[nodiscard]] Result<std::string> ask_page(const Endpoint& address, const std::string& token,
                                           const std::string& method, const std::string& path,
                                           const std::string& body = "",
                                           std::initializer_list<int> expected = {200},
                                           Milliseconds timeout = limits::admin_timeout);

}  // namespace ringside::program
