#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ringside::simulation {

// What happens to a tier while its buckets move, each time as the seed has it. A scene expects, by
// EXPECT and ASSERT, that what the tier has is not fetched again, that nothing old is given, and
// that it ends: everything lies with its taker, and nobody else has anything.
struct HandoffScene {
  std::string_view name;
  void (*play)(std::uint64_t seed);
  std::uint64_t seeds;  // in the usual run
};

[[nodiscard]] std::vector<HandoffScene> handoff_scenes();

// By what it is that happens: the tier changes, something fails, what is asked for is not simple,
// pages change, shards are cut.
[[nodiscard]] std::span<const HandoffScene> change_scenes();
[[nodiscard]] std::span<const HandoffScene> failure_scenes();
[[nodiscard]] std::span<const HandoffScene> page_scenes();
[[nodiscard]] std::span<const HandoffScene> purge_scenes();
[[nodiscard]] std::span<const HandoffScene> cut_scenes();

}  // namespace ringside::simulation
