#include "hop/topology_news.h"

#include <algorithm>
#include <utility>

#include "http/internal_fields.h"

namespace ringside::hop {

void TopologyNews::follow(std::string_view id) {
  const std::lock_guard lock(mutex_);
  if (!followed_.empty() && followed_.back() == id) return;
  followed_.emplace_back(id);
  if (followed_.size() > limits::topologies_remembered) followed_.pop_front();
  pause_ = limits::reread_pause;
}

void TopologyNews::hear(std::string_view id, SteadyPoint now) {
  const std::lock_guard lock(mutex_);
  if (!read_again_ || now < not_before_) return;
  if (id == http::internal::no_topology) return;
  if (std::find(followed_.begin(), followed_.end(), id) != followed_.end()) return;
  not_before_ = now + pause_;
  pause_ = std::min(pause_ * 2, limits::reread_pause_most);
  read_again_();
}

void TopologyNews::read_again_by(std::function<void()> read_again) {
  const std::lock_guard lock(mutex_);
  read_again_ = std::move(read_again);
}

}  // namespace ringside::hop
