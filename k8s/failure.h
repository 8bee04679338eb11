#pragma once

#include <array>
#include <boost/system/result.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace ringside::k8s {

// Why a source did not tell what it was asked; a label of the metrics.
enum class FailureReason {
  unreachable,   // no connection, no answer in time, or one that was cut
  forbidden,     // 403: the account may not
  unauthorized,  // 401: the token is not (or no longer) believed
  not_found,     // no such StatefulSet, API group or name
  throttled,     // 429, or 503 with Retry-After
  gone,          // 410: the resource version is too old, everything is listed again
  malformed,     // an answer that makes no sense, or is beyond a limit
  other,
};

inline constexpr std::array failure_reasons{
    FailureReason::unreachable, FailureReason::forbidden, FailureReason::unauthorized,
    FailureReason::not_found,   FailureReason::throttled, FailureReason::gone,
    FailureReason::malformed,   FailureReason::other,
};
[[nodiscard]] std::string_view name(FailureReason reason) noexcept;

struct Failure {
  FailureReason reason = FailureReason::other;
  std::string message;                      // one line: what, where, and the remedy
  std::optional<Milliseconds> retry_after;  // as the server asks, no more than the limit
  int status = 0;                           // of the answer; 0: none came
};

template <class T>
using Outcome = boost::system::result<T, Failure>;

// Asking a failed Outcome for its value is a broken invariant.
[[noreturn]] void throw_exception_from_error(const Failure& failure,
                                             const boost::source_location& where);

}  // namespace ringside::k8s
