#include "replay/live_line.h"

#include <fmt/format.h>

#include <cstdio>

namespace ringside::replay {
namespace {

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string progress_text(const Client::Progress& now, const Client::Progress& earlier,
                          std::chrono::microseconds between, std::uint64_t total,
                          std::string_view phase) {
  const auto us = static_cast<double>(between.count());
  const double rate = us > 0 ? static_cast<double>(now.answered - earlier.answered) * 1e6 / us : 0;
  return fmt::format("{:>9} of {}  {:>6.0f}/s  hit rate {} now, {} in all  errors {}  {}",
                     now.answered, total, rate,
                     percent(now.get_hits - earlier.get_hits, now.gets - earlier.gets),
                     percent(now.get_hits, now.gets), now.errors, phase);
}

void LiveLine::show(const Client::Progress& progress, std::uint64_t total, std::string_view phase,
                    SteadyPoint now) {
  if (!is_terminal_) return;
  if (!window_began_) window_began_ = now;
  if (now - *window_began_ < window) return;
  fmt::print("\r\x1b[K{}", progress_text(progress, at_window_, now - *window_began_, total, phase));
  std::fflush(stdout);
  is_shown_ = true;
  window_began_ = now;
  at_window_ = progress;
}

void LiveLine::clear() {
  if (!is_shown_) return;
  fmt::print("\r\x1b[K");
  std::fflush(stdout);
}

}  // namespace ringside::replay
