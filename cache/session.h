#pragma once

#include <cstdint>

#include "base/error.h"
#include "cache/request_state.h"

namespace ringside::cache {

// One connection to a replica from accept to close: the replica's half of the life of a request,
// again and again.
class Session {
 public:
  Session(CoreState& core, http::Connection& client);
  ~Session();
  Task<void> run();

 private:
  Result<void> look();
  [[nodiscard]] StoredPointer find_usable();
  Task<void> answer_shared();
  Task<void> answer_options();
  Task<void> purge();
  void count(SteadyPoint began) noexcept;

  RequestState state_;
  std::uint32_t requests_ = 0;
};

}  // namespace ringside::cache
