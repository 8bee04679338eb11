#include "k8s/failure.h"

#include "base/check.h"

namespace ringside::k8s {

std::string_view name(FailureReason reason) noexcept {
  switch (reason) {
    case FailureReason::unreachable:
      return "unreachable";
    case FailureReason::forbidden:
      return "forbidden";
    case FailureReason::unauthorized:
      return "unauthorized";
    case FailureReason::not_found:
      return "not_found";
    case FailureReason::throttled:
      return "throttled";
    case FailureReason::gone:
      return "gone";
    case FailureReason::malformed:
      return "malformed";
    case FailureReason::other:
      break;
  }
  return "other";
}

void throw_exception_from_error(const Failure& failure, const boost::source_location& where) {
  crash(failure.message.c_str(), where.file_name(), static_cast<int>(where.line()));
}

}  // namespace ringside::k8s
