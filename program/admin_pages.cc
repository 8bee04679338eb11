#include "program/admin_pages.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "http/fields.h"
#include "http1/admin_client.h"
#include "program/admin_access.h"
#include "program/values.h"

namespace ringside::program {

void add_admin_token_flag(CLI::App& app, AdminTexts& texts) {
  app.add_option("--admin-token-file", texts.token_file,
                 "The same as of the tier, where it has one")
      ->type_name("FILE")
      ->envname("RINGSIDE_ADMIN_TOKEN_FILE");
}

void add_admin_flags(CLI::App& app, AdminTexts& texts, const std::string& help) {
  app.add_option("--admin", texts.addresses, help + " (default 127.0.0.1:9090)")
      ->type_name("ADDRESS:PORT,...");
  add_admin_token_flag(app, texts);
}

Result<void> read_admin_flags(const AdminTexts& texts, AdminPages& out) {
  if (!texts.addresses.empty()) {
    out.addresses.clear();
    for (const std::string_view text : split_list(texts.addresses)) {
      auto address = Endpoint::parse(text);
      if (!address) return invalid_input("--admin: " + address.error().message);
      out.addresses.push_back(*std::move(address));
    }
  }
  if (texts.token_file.empty()) return {};
  auto token = read_admin_token(texts.token_file);
  if (!token) return invalid_input("--admin-token-file: " + token.error().message);
  out.token = *std::move(token);
  return {};
}

Result<std::string> ask_page(const Endpoint& address, const std::string& token,
                             const std::string& method, const std::string& path,
                             const std::string& body, std::initializer_list<int> expected,
                             Milliseconds timeout) {
  auto answer = http::ask_admin(address, method, path, body, timeout, token);
  if (!answer) return answer.error();
  if (answer->content_type.starts_with("text/html")) {
    return invalid_input(
        fmt::format("{}: what answers there is no admin address; give --admin the one that the "
                    "process printed behind \"admin on\"",
                    address.text()));
  }
  constexpr int unauthorized = 401;
  if (std::find(expected.begin(), expected.end(), answer->status) != expected.end()) {
    return std::move(answer->body);
  }
  if (answer->status == unauthorized) {
    return invalid_input(
        fmt::format("{}: changes need its token; give --admin-token-file FILE, as the tier has it",
                    address.text()));
  }
  constexpr int not_found = 404;
  if (answer->status == not_found) {
    return Error{
        ErrorKind::refused, ErrorSource::peer, Retry::no,
        fmt::format("{}: what answers there has no {} {}; ask a sidecar, or `ringside up`, of "
                    "this release",
                    address.text(), method, path)};
  }
  std::string_view why = answer->body;
  why = http::trimmed(why.substr(0, why.find('\n')));
  if (const auto begin = fmt::format("{}: ", answer->status); why.starts_with(begin)) {
    why.remove_prefix(begin.size());
  }
  return Error{ErrorKind::refused, ErrorSource::peer, Retry::no,
               fmt::format("{}: {} {} is answered {}: {}", address.text(), method, path,
                           answer->status, why)};
}

}  // namespace ringside::program
