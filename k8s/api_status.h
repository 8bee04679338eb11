#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "k8s/api_json.h"
#include "k8s/failure.h"

namespace ringside::k8s {

// meta/v1 Status: how the API server says that something went wrong, as an answer's body or in a
// watch's ERROR event.
struct Status {
  std::uint64_t code = 0;  // as HTTP's; 0: not told
  std::string reason;      // one word for programs, "Forbidden"
  std::string message;     // for people
  std::optional<Milliseconds> retry_after;
  bool version_too_large = false;  // the server has not come so far, or lost what it had
};
[[nodiscard]] Status read_status(const ApiField& object);

// What the server's words mean for who asked.
[[nodiscard]] FailureReason reason_of(const Status& status);
[[nodiscard]] Failure failure_of_error_event(const Status& status);

// Whole seconds as a header has them, no more than limits::api_retry_after_most; else nothing.
[[nodiscard]] std::optional<Milliseconds> read_retry_after(std::string_view seconds);

// The beginning of what a server said, for a message: one line of printable ASCII; `…` where more
// was said.
[[nodiscard]] std::string excerpt(std::string_view said);

}  // namespace ringside::k8s
