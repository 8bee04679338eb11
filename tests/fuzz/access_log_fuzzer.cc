// An access log to replay.
#include <sstream>

#include "base/limits.h"
#include "http/characters.h"
#include "replay/access_log.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {

void examine(std::string_view input) {
  std::istringstream stream{std::string(input)};
  const auto log = replay::read_access_log(stream, "log", 0);
  if (!log) {
    check_message(log.error());
    return;
  }
  RINGSIDE_CHECK(log->requests.size() + log->skipped <= log->lines);
  RINGSIDE_CHECK(log->lines == lines_of(input).size());
  RINGSIDE_CHECK(log->first_skipped.size() <= limits::replay_skipped_shown);
  for (const replay::LogRequest& request : log->requests) {
    // Each can be sent as it is.
    RINGSIDE_CHECK(http::is_token(request.method));
    RINGSIDE_CHECK(!request.target.empty() && all_in(request.target, http::kVisibleClass));
    RINGSIDE_CHECK(request.target.size() <= limits::request_line_size_bytes);
    RINGSIDE_CHECK(request.line >= 1 && request.line <= log->lines);
  }
}

}  // namespace ringside::fuzz
