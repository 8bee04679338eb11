#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/limits.h"

namespace ringside::net {

// Whether the other side keeps to a least rate: a bucket of time. It starts with a grace; waiting
// for the other side takes from it, each byte that comes or goes puts back what it may have taken,
// never above the grace. Time in which we wait for somebody else costs nothing.
class Pace {
 public:
  constexpr Pace(Milliseconds grace, std::size_t least_bytes_s) noexcept
      : grace_(grace), left_(grace), least_bytes_s_(least_bytes_s) {}

  // How much longer the other side may be waited for.
  [[nodiscard]] constexpr std::chrono::microseconds left() const noexcept { return left_; }

  constexpr void waited(std::chrono::microseconds time) noexcept { left_ -= time; }
  constexpr void moved(std::size_t bytes) noexcept {
    const auto earned = std::chrono::microseconds(
        static_cast<std::int64_t>(std::min(bytes, limits::kMiB) * 1'000'000 / least_bytes_s_));
    left_ = std::min<std::chrono::microseconds>(left_ + earned, grace_);
  }
  constexpr void restart() noexcept { left_ = grace_; }

 private:
  std::chrono::microseconds grace_;
  std::chrono::microseconds left_;
  std::size_t least_bytes_s_;
};

// How long a client is waited for while so much of a request's body comes: in proportion to what is
// there, so that neither a length that is only declared nor a body without an end holds a place for
// long.
[[nodiscard]] constexpr std::chrono::microseconds upload_patience(
    std::uint64_t came_bytes) noexcept {
  const auto counted =
      static_cast<std::int64_t>(std::min(came_bytes, limits::request_body_size_bytes));
  constexpr auto rate = static_cast<std::int64_t>(limits::upload_rate_least_bytes_s);
  return limits::upload_grace + std::chrono::microseconds(counted * 1'000'000 / rate);
}

}  // namespace ringside::net
