#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.h"

namespace ringside::k8s {

// When news are published: once none came for `settle`, and no later than `most` after the first.
// One thing that happens in a cluster is often told in several pieces. A value; the time is given.
class Debounce {
 public:
  Debounce(Milliseconds settle, Milliseconds most) noexcept : settle_(settle), most_(most) {}

  void news(SteadyPoint now) noexcept {
    if (!has_news_) first_ = now;
    has_news_ = true;
    last_ = now;
  }
  // Absent: there are no news.
  [[nodiscard]] std::optional<SteadyPoint> due() const noexcept {
    if (!has_news_) return std::nullopt;
    return std::min(last_ + settle_, first_ + most_);
  }
  void published() noexcept { has_news_ = false; }

 private:
  Milliseconds settle_;
  Milliseconds most_;
  bool has_news_ = false;
  SteadyPoint first_{};
  SteadyPoint last_{};
};

}  // namespace ringside::k8s
