#include "shard/ascending.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>

#include "shard/quotation.h"

namespace ringside::shard {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The least key behind `key` that is no longer than it must be; by natural_order.
std::string key_after(std::string key) {
  if (key.empty() || !is_digit(key.back())) return key + " ";
  std::size_t place = key.size();
  while (place > 0 && key[place - 1] == '9') key[--place] = '0';
  if (place > 0 && is_digit(key[place - 1])) {
    ++key[place - 1];
  } else {
    key.insert(place, 1, '1');
  }
  return key;
}

}  // namespace

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

std::optional<std::vector<std::string>> where_the_next_opens(const State& state, std::size_t shard,
                                                             std::vector<std::string> keys) {
  if (shard + 1 != state.shards.size() || keys.empty()) return std::nullopt;
  const auto greatest = std::max_element(
      keys.begin(), keys.end(),
      [](const auto& a, const auto& b) { return std::is_lt(natural_order(a, b)); });
  return std::vector<std::string>{key_after(*greatest)};
}

}  // namespace ringside::shard
