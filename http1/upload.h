#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/limits.h"
#include "base/task.h"
#include "http/caller.h"
#include "http1/connection.h"

namespace ringside::http {

class ArrivalWatch;

// A request's body on its way to an upstream, one piece at a time: what the upstream does not take
// is not read. It stops where the upstream says something meanwhile, and can be gone on with.
class Upload {
 public:
  // Both must outlive the upload. A body of more than `most_bytes` fails with body_too_large.
  Upload(Caller& from, Connection& to, bool chunked,
         std::uint64_t most_bytes = limits::request_body_size_bytes) noexcept
      : from_(from), to_(to), chunked_(chunked), most_bytes_(most_bytes) {}

  enum class End { complete, upstream_spoke };
  // The Error's source tells which side failed; the upstream has then had an incomplete message.
  Task<Result<End>> run();

 private:
  Task<Result<End>> send_pending(ArrivalWatch& watch);
  Result<void> add(const Pulled& pulled);

  Caller& from_;
  Connection& to_;
  const bool chunked_;
  const std::uint64_t most_bytes_;
  std::vector<std::string_view> pending_;  // what is being written
  std::array<char, 20> line_space_{};
  std::uint64_t sent_bytes_ = 0;
  bool last_ = false;
};

}  // namespace ringside::http
