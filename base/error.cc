#include "base/error.h"

#include "base/check.h"

namespace ringside {

std::string_view name(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::malformed:
      return "malformed";
    case ErrorKind::head_too_large:
      return "head_too_large";
    case ErrorKind::target_too_long:
      return "target_too_long";
    case ErrorKind::body_too_large:
      return "body_too_large";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::method_not_allowed:
      return "method_not_allowed";
    case ErrorKind::loop:
      return "loop";
    case ErrorKind::unsupported_version:
      return "unsupported_version";
    case ErrorKind::refused:
      return "refused";
    case ErrorKind::unresolved:
      return "unresolved";
    case ErrorKind::untrusted:
      return "untrusted";
    case ErrorKind::disconnected:
      return "disconnected";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::no_replica:
      return "no_replica";
    case ErrorKind::overloaded:
      return "overloaded";
    case ErrorKind::circuit_open:
      return "circuit_open";
    case ErrorKind::invalid_input:
      return "invalid_input";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::forbidden:
      return "forbidden";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

std::string_view name(ErrorSource source) noexcept {
  switch (source) {
    case ErrorSource::client:
      return "client";
    case ErrorSource::peer:
      return "peer";
    case ErrorSource::origin:
      return "origin";
    case ErrorSource::ourselves:
      return "ourselves";
  }
  return "ourselves";
}

Error invalid_input(std::string message) {
  return Error{ErrorKind::invalid_input, ErrorSource::client, Retry::no, std::move(message)};
}

void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  crash(error.message.c_str(), where.file_name(), static_cast<int>(where.line()));
}

}  // namespace ringside
