#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "replay/client.h"

namespace ringside::replay {

// One line on a terminal that is written over as a run goes on; nothing where stdout is none.
class LiveLine {
 public:
  explicit LiveLine(bool is_terminal) : is_terminal_(is_terminal) {}
  void show(const Client::Progress& progress, std::uint64_t total, std::string_view phase,
            SteadyPoint now);
  void clear();

 private:
  static constexpr Milliseconds window{500};  // what "now" means, and how often the line changes

  const bool is_terminal_;
  bool is_shown_ = false;
  std::optional<SteadyPoint> window_began_;
  Client::Progress at_window_;
};

// The line's text: how far, the rate and the hit rate since `earlier`, and the hit rate of all.
[[nodiscard]] std::string progress_text(const Client::Progress& now,
                                        const Client::Progress& earlier,
                                        std::chrono::microseconds between, std::uint64_t total,
                                        std::string_view phase);

}  // namespace ringside::replay
