#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/error.h"

namespace ringside::replay {

// One request that a log says was made.
struct LogRequest {
  IpAddress client;
  std::string method;
  std::string target;      // as it stands in the request line
  std::uint64_t line = 0;  // in the log, from 1
  bool operator==(const LogRequest&) const = default;
};

// A line of the Common or Combined Log Format (`%h %l %u %t "%r" %>s %b …`). What follows the size
// (referer, user agent, further fields) is not looked at: a line that was cut short there still
// tells its request. The Error says why there is no request to send: the line is of another format,
// or the request was none (`-`, bytes of a TLS handshake, a method or target that HTTP doesn't
// have).
[[nodiscard]] Result<LogRequest> parse_log_line(std::string_view line);

struct AccessLog {
  struct Skipped {
    std::uint64_t line;
    std::string why;
  };
  std::vector<LogRequest> requests;  // in the order of the file
  std::uint64_t lines = 0;           // all, with empty ones
  std::uint64_t skipped = 0;
  std::vector<Skipped> first_skipped;  // at most limits::replay_skipped_shown
};

// Reads up to `limit` requests (0: all, up to limits::replay_requests, beyond which is an Error).
// Empty lines are passed over. Lines that can't be replayed are counted and skipped; a log without
// any request is an Error that says what was wrong with its first line. `name` is for messages.
[[nodiscard]] Result<AccessLog> read_access_log(std::istream& in, const std::string& name,
                                                std::uint64_t limit);
// The same for a file; "-" is stdin.
[[nodiscard]] Result<AccessLog> read_access_log(const std::string& path, std::uint64_t limit);

}  // namespace ringside::replay
