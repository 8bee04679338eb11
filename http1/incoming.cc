#include "http1/incoming.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::http {

// The head's bytes, taken out of the buffer; nullopt while it is incomplete.
Result<std::optional<std::string_view>> Incoming::take_head(const HeadLimits& limits) {
  RINGSIDE_CHECK(body_ == Body::done);
  using Taken = std::optional<std::string_view>;
  if (buffer_.empty()) return Taken{};
  const auto bytes = buffer_.readable();
  const auto end = find_head_end(bytes, head_searched_bytes_, limits, source_);
  head_searched_bytes_ = end && !end->has_value() ? bytes.size() : 0;
  if (!end) return end.error();
  if (!end->has_value()) return Taken{};
  buffer_.consume(**end);
  return Taken{bytes.substr(0, **end)};
}

std::optional<Result<void>> Incoming::take_request(const HeadLimits& limits, RequestHead& head) {
  const auto bytes = take_head(limits);
  if (!bytes) return Result<void>(bytes.error());
  if (!bytes->has_value()) return std::nullopt;
  auto parsed = parse_request_head(**bytes, limits, head);
  if (parsed) begin_body(head.framing);
  return parsed;
}

std::optional<Result<void>> Incoming::take_response(const HeadLimits& limits,
                                                    std::string_view request_method,
                                                    ResponseHead& head) {
  const auto bytes = take_head(limits);
  if (!bytes) return Result<void>(bytes.error());
  if (!bytes->has_value()) return std::nullopt;
  auto parsed = parse_response_head(**bytes, limits, request_method, source_, head);
  if (parsed) begin_body(head.framing);
  return parsed;
}

void Incoming::begin_body(const Framing& framing) noexcept {
  switch (framing.kind) {
    case Framing::Kind::none:
      body_ = Body::done;
      return;
    case Framing::Kind::length:
      body_left_bytes_ = framing.length_bytes;
      body_ = body_left_bytes_ == 0 ? Body::done : Body::length;
      return;
    case Framing::Kind::chunked:
      chunks_.reset();
      body_ = Body::chunked;
      return;
    case Framing::Kind::until_close:
      body_ = Body::until_close;
      return;
  }
}

std::optional<Result<std::string_view>> Incoming::take_chunked() {
  using Piece = Result<std::string_view>;
  while (!buffer_.empty()) {
    const auto step = chunks_.decode(buffer_.readable(), source_);
    if (!step) return Piece(step.error());
    buffer_.consume(step->consumed);
    if (!step->data.empty()) return Piece(step->data);
    if (chunks_.done()) {
      body_ = Body::done;
      return Piece(std::string_view{});
    }
  }
  return std::nullopt;
}

std::optional<Result<std::string_view>> Incoming::take_body() {
  using Piece = Result<std::string_view>;
  if (body_ == Body::done) return Piece(std::string_view{});
  if (body_ == Body::chunked) return take_chunked();
  auto piece = buffer_.readable();
  if (piece.empty()) return std::nullopt;
  if (body_ == Body::length) {
    piece = piece.substr(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), body_left_bytes_)));
    body_left_bytes_ -= piece.size();
    if (body_left_bytes_ == 0) body_ = Body::done;
  }
  buffer_.consume(piece.size());
  return Piece(piece);
}

std::size_t Incoming::wanted_body_bytes() const noexcept {
  constexpr std::size_t most = limits::body_piece_size_bytes;
  if (body_ != Body::length || body_left_bytes_ >= most) return most;
  return static_cast<std::size_t>(body_left_bytes_);
}

bool Incoming::end_with_close() noexcept {
  if (body_ != Body::until_close) return false;
  body_ = Body::done;
  return true;
}

}  // namespace ringside::http
