#pragma once

#include <array>
#include <cstdint>

#include "base/error.h"
#include "base/limits.h"
#include "base/task.h"
#include "http1/connection.h"
#include "http1/gather.h"
#include "http1/relay.h"

namespace ringside::http {

class ArrivalWatch;

// A request's body on its way to an upstream, one piece at a time: what the upstream does not take
// is not read. It stops where the upstream says something meanwhile, and can be gone on with.
class Upload {
 public:
  // Both must outlive the upload. A body of more than `most_bytes` fails with body_too_large.
  Upload(Connection& from, Connection& to, Coding coding,
         std::uint64_t most_bytes = limits::request_body_size_bytes) noexcept
      : from_(from), to_(to), coding_(coding), most_bytes_(most_bytes) {}

  enum class End { complete, upstream_spoke };
  // The Error's source tells which side failed; the upstream has then had an incomplete message.
  Task<Result<End>> run();

 private:
  Task<Result<End>> send_pending(ArrivalWatch& watch);

  Connection& from_;
  Connection& to_;
  const Coding coding_;
  const std::uint64_t most_bytes_;
  Gather pending_;  // what is being written
  std::array<char, 20> line_space_{};
  std::uint64_t sent_bytes_ = 0;
  bool last_ = false;
};

}  // namespace ringside::http
