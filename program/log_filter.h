#pragma once

#include <string>

#include "base/error.h"
#include "hop/log_readers.h"

namespace ringside::program {

// Which requests `ringside log` is to show, as it is written; empty: any.
struct LogFilterTexts {
  std::string country;      // `FR`
  std::string replica;      // `cache-3`
  std::string result;       // `hit`
  std::string status;       // `404`, or `5xx`
  std::string slower_than;  // `250ms`
};

// Each of them, with its key in the body of `POST /log`.
struct LogFilterRow {
  const char* key;
  std::string LogFilterTexts::*text;
  const char* flag;
  const char* value_name;
  const char* help;
};
inline constexpr LogFilterRow log_filter_rows[] = {
    {"country", &LogFilterTexts::country, "--country", "CC",
     "Of clients in this country, such as FR"},
    {"replica", &LogFilterTexts::replica, "--replica", "NAME", "Answered by this replica"},
    {"result", &LogFilterTexts::result, "--result", "RESULT",
     "With this result, such as miss (docs/metrics.md has them)"},
    {"status", &LogFilterTexts::status, "--status", "CODE",
     "With this status, such as 404, or of this class, such as 5xx"},
    {"slower_than", &LogFilterTexts::slower_than, "--slower-than", "DURATION",
     "That took longer, such as 250ms"},
};

// An Error names the key, and what to write.
[[nodiscard]] Result<hop::LogFilter> parse_log_filter(const LogFilterTexts& texts);

}  // namespace ringside::program
