#include "shard/ascending.h"

#include <fmt/format.h>

#include <compare>

#include "shard/quotation.h"

namespace ringside::shard {

Result<std::shared_ptr<const Scheme>> make_ascending(std::span<const Member> members,
                                                     const State& state) {
  if (auto checked = check_ranges(state); !checked) return checked.error();
  for (std::size_t i = 1; i < state.shards.size(); ++i) {
    const std::string& at = state.shards[i].at;
    if (std::is_gt(natural_order(at, state.shards[i - 1].at))) continue;
    return invalid_input(fmt::format("{}.at: {} lies before {}; shards open in ascending order",
                                     place_of(i), quotation(at),
                                     quotation(state.shards[i - 1].at)));
  }
  return std::shared_ptr<const Scheme>(std::make_shared<Ascending>(members, state));
}

Result<State> open_next(const State& state, const Cut& cut) {
  if (cut.shard + 1 != state.shards.size()) {
    return invalid_input(
        fmt::format("{} is full for good: only the newest shard, {}, is followed by another",
                    cut.shard, state.shards.size() - 1));
  }
  if (cut.at.size() != 1) return invalid_input("name one key: the least one of the new shard");
  return cut_range(state, cut);
}

}  // namespace ringside::shard
