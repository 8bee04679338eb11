#pragma once

#include <cstdint>

#include "base/task.h"
#include "http/byte_stream.h"
#include "http1/connection.h"

namespace ringside::http {

// How many bytes went each way.
struct TunnelBytes {
  std::uint64_t up = 0;
  std::uint64_t down = 0;
};

// After a switch of protocols (RFC 9110 §7.8): bytes both ways as they come, each way at the pace
// of its receiver, until both sides have ended, one has failed, or neither has sent anything for
// `idle_timeout`. One side's end is told to the other, which may still send.
Task<TunnelBytes> tunnel(Connection& client, ByteStream& upstream, Milliseconds idle_timeout);

}  // namespace ringside::http
