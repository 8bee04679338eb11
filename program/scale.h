#pragma once

#include <cstddef>
#include <string>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"

namespace ringside::program {

struct ScaleOptions {
  std::size_t replicas = 0;
  Endpoint admin{"127.0.0.1", 9090};
  std::string token{};  // of its --admin-token-file; empty: none
};

// `ringside scale N`: asks a running `ringside up`, prints what it changed, and waits until every
// component has the new topology and the replicas that leave have gone.
[[nodiscard]] Result<void> run_scale(const ScaleOptions& options, const Clock& clock);

// What `PUT /scale` answered, for people. An Error: it is no such answer.
[[nodiscard]] Result<std::string> scale_summary(const std::string& answer);

// What is still to be waited for, by `GET /scale`'s answer; empty: nothing.
[[nodiscard]] Result<std::string> scale_awaits(const std::string& answer);

}  // namespace ringside::program
