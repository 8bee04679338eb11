#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "k8s/failure.h"

namespace ringside::k8s {

// Cuts the bytes of a watch into its lines, one event each, however the bytes came. Pure; not
// thread-safe.
class EventLines {
 public:
  // Given each whole line without its end; the line is gone when it returns. A Failure ends the
  // adding and is handed on.
  using Taker = std::function<Outcome<void>(std::string_view line)>;

  // A line beyond limits::api_event_size_bytes is malformed. After a Failure only clear() is of
  // use: what else came with the piece is lost.
  [[nodiscard]] Outcome<void> add(std::string_view piece, const Taker& take);
  // A line has begun and not ended: where the watch is over, it was cut.
  [[nodiscard]] bool has_unfinished() const noexcept { return !begun_.empty(); }
  void clear() noexcept { begun_.clear(); }

 private:
  std::string begun_;
};

}  // namespace ringside::k8s
