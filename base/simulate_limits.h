#pragma once

#include "base/limits.h"

// The bounds of `ringside simulate`, which nobody else needs. See base/limits.h.
namespace ringside::limits {

// # Simulating

constexpr size_t simulate_keys = 100'000'000;    // {}, generated or given | refused
constexpr size_t simulate_steps = 64;            // {} memberships one after another | refused
constexpr unsigned simulate_zipf_exponent = 10;  // {}, the steepest popularity of keys | refused
// {} of a line of keys | refused, with the line's number
constexpr size_t simulate_line_size_bytes = 64 * kKiB;
constexpr size_t simulate_sample = 4096;  // {} keys, evenly of all | look-ups are timed by these
// {} times a topology is built, {} in all | whichever comes first; the least time counts
constexpr size_t simulate_builds = 32;
constexpr Milliseconds simulate_build_most{100};
// {} rounds, each of {} | how long look-ups are timed; the least time counts
constexpr int simulate_look_up_rounds = 5;
constexpr Milliseconds simulate_look_up_least{4};
constexpr size_t simulate_keys_between_news = 65'536;  // keys are looked at before progress is told
// how often progress is shown on a terminal, and elsewhere
constexpr Milliseconds simulate_news_terminal{200};
constexpr Milliseconds simulate_news{5'000};
constexpr size_t chart_library_size_bytes = 4 * kMiB;  // {} of the chart library | refused

}  // namespace ringside::limits
