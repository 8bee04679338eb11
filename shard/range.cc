#include "shard/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>

#include "base/limits.h"
#include "shard/quotation.h"
#include "shard/shard_key.h"

namespace ringside::shard {
namespace {

bool before(std::string_view a, std::string_view b) noexcept {
  return std::is_lt(natural_order(a, b));
}

}  // namespace

Ranges::Ranges(const State& state) {
  for (std::size_t i = 0; i < state.shards.size(); ++i) {
    starts_.emplace_back(state.shards[i].at, static_cast<Bucket>(i));
  }
  std::sort(starts_.begin(), starts_.end(),
            [](const auto& a, const auto& b) { return before(a.first, b.first); });
}

Bucket Ranges::of(std::string_view key) const noexcept {
  const auto behind = std::upper_bound(
      starts_.begin(), starts_.end(), key,
      [](std::string_view wanted, const auto& start) { return before(wanted, start.first); });
  return behind == starts_.begin() ? starts_.front().second : std::prev(behind)->second;
}

const std::string* Ranges::end_of(std::size_t shard) const noexcept {
  for (std::size_t i = 0; i + 1 < starts_.size(); ++i) {
    if (starts_[i].second == shard) return &starts_[i + 1].first;
  }
  return nullptr;
}

Result<void> check_ranges(const State& state) {
  if (auto checked = check_shards(state, bucket_count); !checked) return checked.error();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < state.shards.size(); ++i) order.push_back(i);
  const auto at = [&](std::size_t shard) -> const std::string& { return state.shards[shard].at; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return before(at(a), at(b)); });
  if (order.empty() || !at(order.front()).empty()) {
    return invalid_input(fmt::format(
        "shards: no range begins with the empty key, so that keys before {} belong to nobody; let "
        "the first one begin with \"\"",
        order.empty() ? "any" : quotation(at(order.front()))));
  }
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (before(at(order[i - 1]), at(order[i]))) continue;
    return invalid_input(fmt::format("{}.at: {} overlaps {}, which begins there too",
                                     place_of(order[i]), quotation(at(order[i])),
                                     place_of(order[i - 1])));
  }
  return {};
}

State first_ranges() { return {{{"", "", std::nullopt}}, {}}; }

std::string roots_of_ranges(const State& state) {
  std::string roots;
  for (const Shard& shard : state.shards) {
    if (!shard.parent) append_key_value(roots, shard.at);
  }
  return roots;
}

Result<State> cut_range(const State& state, const Cut& cut) {
  if (cut.at.empty() || cut.at.size() > 2) {
    return invalid_input("a range is cut at one or two keys; name them");
  }
  const Ranges ranges(state);
  const std::string* const end = ranges.end_of(cut.shard);
  State out = state;
  const std::string* last = &state.shards[cut.shard].at;
  for (std::size_t i = 0; i < cut.at.size(); ++i) {
    const std::string& at = cut.at[i];
    if (i > 0 && !before(*last, at)) {
      return invalid_input(
          fmt::format("{} does not lie behind {}; name the keys in ascending order", quotation(at),
                      quotation(*last)));
    }
    if (!before(*last, at) || (end != nullptr && !before(at, *end))) {
      return invalid_input(fmt::format(
          "{} does not lie within the range {}, which goes from {} to {}", quotation(at), cut.shard,
          quotation(state.shards[cut.shard].at), end == nullptr ? "its end" : quotation(*end)));
    }
    out.shards.push_back({at, i < cut.owners.size() ? cut.owners[i] : std::string{}, cut.shard});
    last = &at;
  }
  if (auto checked = check_ranges(out); !checked) return checked.error();
  return out;
}

std::optional<std::vector<std::string>> where_to_halve(const State& /*state*/,
                                                       std::size_t /*shard*/,
                                                       std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end(), before);
  // The first key stays where it is, however much of the shard is its own.
  const auto behind_first = std::find_if(
      keys.begin(), keys.end(), [&](const auto& key) { return before(keys.front(), key); });
  if (behind_first == keys.end()) return std::nullopt;
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2);
  return std::vector<std::string>{*std::max(behind_first, middle)};
}

Result<std::shared_ptr<const Scheme>> make_range(std::span<const Member> members,
                                                 const State& state) {
  if (auto checked = check_ranges(state); !checked) return checked.error();
  return std::shared_ptr<const Scheme>(std::make_shared<Range>(members, state));
}

}  // namespace ringside::shard
