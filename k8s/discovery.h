#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "k8s/failure.h"
#include "k8s/roster.h"

namespace ringside::k8s {

// How a source of rosters fares, for /readyz and the metrics. A value.
struct DiscoveryFigures {
  bool in_touch = false;                 // it answers, and what is known is what it says
  std::optional<TimePoint> last_answer;  // or event; absent: never yet
  std::string words;                     // one line for people: what is known, or what is wrong
  std::uint64_t rosters = 0;             // told to the follower
  std::uint64_t read_again = 0;          // times that it was asked to, see Discovery::read_again
  std::array<std::uint64_t, failure_reasons.size()> failures{};  // by FailureReason
};

// Somewhere that members come from, watched by threads of its own from its start until it is
// destroyed. While the source is away the last roster stays: nothing is told to the follower.
class Discovery {
 public:
  // Called on a thread of the discovery's, one call at a time, with rosters that differ from the
  // one before. What it throws ends the process.
  using Follower = std::function<void(const Roster&)>;

  virtual ~Discovery() = default;  // when it returns, the follower is called no more
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  [[nodiscard]] virtual DiscoveryFigures figures() const = 0;  // thread-safe
  // There is something new, as others say: asks the source at once, and does not wait for what it
  // answers. Thread-safe.
  virtual void read_again() = 0;
  // "kubernetes", "dns"
  [[nodiscard]] virtual std::string_view source() const noexcept = 0;

 protected:
  Discovery() = default;
};

}  // namespace ringside::k8s
