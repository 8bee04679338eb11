#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "http/head.h"
#include "http1/buffer.h"
#include "http1/chunked.h"
#include "http1/head_parser.h"

namespace ringside::http {

// What has arrived on a connection and how far it was understood: bytes go in, heads and pieces of
// bodies come out. Pure: the same bytes give the same messages however they were cut on their way.
//
// Views that it hands out point into its buffer and are valid until more bytes are added.
class Incoming {
 public:
  // `source` is the source of the errors in what arrives: client for requests. `account`: what the
  // memory is counted in (see Buffer).
  explicit Incoming(ErrorSource source, std::size_t* account = nullptr) noexcept
      : buffer_(account), source_(source) {}

  [[nodiscard]] Buffer& buffer() noexcept { return buffer_; }
  [[nodiscard]] bool empty() const noexcept { return buffer_.empty(); }

  // A head that is there whole; nullopt where more bytes are needed. Requires that the body before
  // it was taken to its end.
  std::optional<Result<void>> take_request(const HeadLimits& limits, RequestHead& head);
  std::optional<Result<void>> take_response(const HeadLimits& limits,
                                            std::string_view request_method, ResponseHead& head);

  // The next piece of the current message's body, decoded; an empty piece is its end. nullopt where
  // more bytes are needed.
  std::optional<Result<std::string_view>> take_body();
  [[nodiscard]] bool body_done() const noexcept { return body_ == Body::done; }
  // How many bytes to ask for, so that nothing is read beyond a body of known length.
  [[nodiscard]] std::size_t wanted_body_bytes() const noexcept;

  // The other side has closed. True where that is how the current body ends (RFC 9112 §6.3, 8).
  [[nodiscard]] bool end_with_close() noexcept;

  // Everything that is there, as it is: after a protocol switch (RFC 9110 §7.8) or before HTTP
  // begins (PROXY protocol).
  [[nodiscard]] std::string_view raw() const noexcept { return buffer_.readable(); }
  void consume_raw(std::size_t bytes) noexcept { buffer_.consume(bytes); }

 private:
  enum class Body { length, chunked, until_close, done };

  [[nodiscard]] Result<std::optional<std::string_view>> take_head(const HeadLimits& limits);
  void begin_body(const Framing& framing) noexcept;
  std::optional<Result<std::string_view>> take_chunked();

  Buffer buffer_;
  ChunkDecoder chunks_;
  std::uint64_t body_left_bytes_ = 0;
  std::size_t head_searched_bytes_ = 0;
  const ErrorSource source_;
  Body body_ = Body::done;
};

}  // namespace ringside::http
