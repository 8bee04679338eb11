#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "program/admin_pages.h"

namespace CLI {
class App;
}

namespace ringside::program {

struct ExplainOptions {
  std::string url{};
  std::string ip{};                    // who asks; empty: 127.0.0.1
  std::vector<std::string> headers{};  // `Name: value`
  bool head = false;                   // a HEAD, not a GET
  bool json = false;
  AdminPages pages{};
};

void add_explain_flags(CLI::App& app, ExplainOptions& out);
[[nodiscard]] Result<void> check_explain_flags(const ExplainOptions& options);

// What an answer of `POST /explain` says, for people: lines.
[[nodiscard]] Result<std::string> explain_lines(const std::string& answer);

// `ringside explain`: prints what a tier would do with a request now.
[[nodiscard]] Result<void> run_explain(const ExplainOptions& options);

}  // namespace ringside::program
