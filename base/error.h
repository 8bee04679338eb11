#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace ringside {

// What went wrong, in the terms that decide what the client is told (see http/error_response.h).
enum class ErrorKind {
  malformed,            // bytes that are no HTTP message: 400 from a client, 502 from upstream
  head_too_large,       // 431
  target_too_long,      // 414
  body_too_large,       // 413
  unsupported,          // a method or transfer coding that we don't speak: 501
  method_not_allowed,   // a method that no resource of ours allows (TRACE): 405
  loop,                 // the request has been here before: 508
  unsupported_version,  // an HTTP version that is neither 1.0 nor 1.1: 505
  refused,              // nothing listens there
  unresolved,           // a name without an address
  untrusted,            // a certificate that is not believed
  disconnected,         // the connection ended before the message did
  timeout,              // a named limit in base/limits.h ran out
  no_replica,           // no member of the topology could be asked
  overloaded,           // one of our own bounds is full
  circuit_open,         // an upstream that has failed again and again is not asked for a while
  invalid_input,        // configuration, command line, database or admin request
  not_found,
  forbidden,
  internal,
};

// Whose doing it was. Decides between 4xx, 502/504 and 503, and is a metric label.
enum class ErrorSource { client, peer, origin, ourselves };

// Whether the same request may be sent elsewhere or again. `yes` is only said where no byte of the
// request can have been acted upon, or where the request is idempotent and no byte of an answer
// came.
enum class Retry { no, yes };

struct Error {
  ErrorKind kind = ErrorKind::internal;
  ErrorSource source = ErrorSource::ourselves;
  Retry retry = Retry::no;
  std::string message;  // one line for people: what, where, and the remedy where there is one
};

[[nodiscard]] std::string_view name(ErrorKind kind) noexcept;
[[nodiscard]] std::string_view name(ErrorSource source) noexcept;

// Input that does not make sense. `message` names the place (file and line) and the remedy.
[[nodiscard]] Error invalid_input(std::string message);

template <class T>
using Result = boost::system::result<T, Error>;

// Asking a failed Result for its value is a broken invariant, not a condition to handle.
[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

}  // namespace ringside
