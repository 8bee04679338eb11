#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/task.h"
#include "http1/connection.h"

namespace ringside::http {

// How a body is framed on the way out.
enum class Coding { as_is, chunked };

struct RelayLimits {
  Milliseconds read_timeout;   // one piece from the one side
  Milliseconds write_timeout;  // one piece to the other
};

// Writes `head`, then the body of `from`'s current message as it arrives, one piece at a time: what
// the receiver does not take is not read. `head` is emptied when it has been written. Returns the
// number of body bytes. The Error's source tells which side failed; `to` has then had an incomplete
// message and must be closed.
Task<Result<std::uint64_t>> relay(Connection& from, Connection& to, std::string_view& head,
                                  Coding coding, RelayLimits limits);

// The line before a chunk's data (RFC 9112 §7.1), in `space`.
[[nodiscard]] std::string_view chunk_line(std::size_t size_bytes,
                                          std::span<char, 20> space) noexcept;
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace ringside::http
