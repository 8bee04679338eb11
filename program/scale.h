#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"

namespace ringside::program {

struct ScaleOptions {
  std::optional<std::size_t> replicas{};  // absent: nothing changes, and `watch` is set
  Endpoint admin{"127.0.0.1", 9090};
  std::string token{};   // of its --admin-token-file; empty: none
  bool watch = false;    // until what is stored lies where it belongs
  bool dry_run = false;  // nothing changes: the plan of it is told (program/plan_command.h)
};

// `ringside scale N`: asks a running `ringside up`, prints what it changed, and waits until every
// component has the new topology and the replicas that leave have gone; with `watch` also until
// what is stored has moved, which it follows line by line. `ringside scale --watch` follows what
// moves already.
[[nodiscard]] Result<void> run_scale(const ScaleOptions& options, const Clock& clock);

// What `PUT /scale` answered, for people. An Error: it is no such answer.
[[nodiscard]] Result<std::string> scale_summary(const std::string& answer);

// What is still to be waited for, by `GET /scale`'s answer; empty: nothing.
[[nodiscard]] Result<std::string> scale_awaits(const std::string& answer);

// How far what is stored has moved, by such an answer.
struct MoveProgress {
  std::uint64_t buckets_away = 0;
  std::uint64_t moved_responses = 0;
  std::uint64_t moved_bytes = 0;
  std::uint64_t moves_waiting = 0;
  std::uint64_t fills = 0;
  std::uint64_t refusals = 0;
  bool operator==(const MoveProgress&) const = default;
};
[[nodiscard]] Result<MoveProgress> move_progress(const std::string& answer);
// What has moved, for people. `from`: the counts before the change, and the most buckets that were
// away since.
[[nodiscard]] std::string move_text(const MoveProgress& from, const MoveProgress& now,
                                    Milliseconds since);

}  // namespace ringside::program
