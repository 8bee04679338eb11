#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "program/admin_pages.h"
#include "program/log_filter.h"

namespace CLI {
class App;
}

namespace ringside::program {

struct LogOptions {
  LogFilterTexts filter{};
  std::uint64_t lines_most = 0;  // it ends after so many; 0: it goes on
  AdminPages pages{};
};
struct LogTexts {
  LogFilterTexts filter{};
  std::string lines;
};

void add_log_flags(CLI::App& app, LogTexts& texts);
[[nodiscard]] Result<void> read_log_flags(const LogTexts& texts, LogOptions& out);

struct LogAnswer {
  std::vector<std::string> lines;
  std::uint64_t dropped = 0;
  bool begun = false;  // this reader was not known there
};
// What an answer of `POST /log` says.
[[nodiscard]] Result<LogAnswer> parse_log_answer(const std::string& body);

// `ringside log`: prints the requests of running processes as they are answered, until it is ended.
// An Error where one of them can't be followed at the start; one that goes away later is told of on
// stderr, and asked again.
[[nodiscard]] Result<void> run_log(const LogOptions& options, const Clock& clock);

}  // namespace ringside::program
