#include "shard/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"
#include "shard/member.h"
#include "shard/quotation.h"

namespace ringside::shard {
namespace {

// Values of a key are apart by line feeds.
bool is_plain(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

Result<void> check_shard(const Shard& shard, std::size_t number) {
  const std::string place = place_of(number);
  if (shard.at.size() > limits::shard_at_size_bytes) {
    return invalid_input(fmt::format("{}.at: has {} bytes; at most {}", place, shard.at.size(),
                                     limits::shard_at_size_bytes));
  }
  if (!is_plain(shard.at)) {
    return invalid_input(fmt::format("{}.at: {} has a byte that is not printable ASCII", place,
                                     quotation(shard.at)));
  }
  if (shard.parent && *shard.parent >= number) {
    return invalid_input(fmt::format(
        "{}.parent: is {}; a shard is cut of one that stands before it", place, *shard.parent));
  }
  if (shard.owner.empty()) return {};
  if (auto checked = check_member_name(shard.owner); !checked) {
    return invalid_input(fmt::format("{}.owner: {}", place, checked.error().message));
  }
  return {};
}

}  // namespace

std::string place_of(std::size_t shard) { return fmt::format("shards[{}]", shard); }

Result<void> check_shards(const State& state, std::size_t most) {
  if (state.shards.size() > most) {
    return invalid_input(
        fmt::format("shards: there are {}; at most {}", state.shards.size(), most));
  }
  for (std::size_t number = 0; number < state.shards.size(); ++number) {
    if (auto checked = check_shard(state.shards[number], number); !checked) return checked.error();
  }
  return {};
}

}  // namespace ringside::shard
