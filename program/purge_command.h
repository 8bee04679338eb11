#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "program/admin_pages.h"

namespace CLI {
class App;
}

namespace ringside::program {

struct PurgeOptions {
  std::vector<std::string> urls{};
  bool prefix = false;  // all that begins with one of them
  bool all = false;     // everything, instead
  AdminPages pages{};
};

void add_purge_flags(CLI::App& app, PurgeOptions& out);
[[nodiscard]] Result<void> check_purge_flags(const PurgeOptions& options);

// What an answer of `POST /purge` says of `what`, for people: a line.
[[nodiscard]] Result<std::string> purge_line(const std::string& answer, const std::string& what);

// `ringside purge`: removes what a tier has stored of the URLs, of all countries and variants. An
// Error where somebody did not confirm it, too.
[[nodiscard]] Result<void> run_purge(const PurgeOptions& options);

}  // namespace ringside::program
