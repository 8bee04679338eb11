#include "shard/split_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "base/limits.h"
#include "shard/quotation.h"

namespace ringside::shard {
namespace {

constexpr std::string_view prefix = "shard_";

// `shard_2_7_17` as the numbers on the way to it; empty: it is no such name.
std::vector<std::uint64_t> path_of(std::string_view at) {
  std::vector<std::uint64_t> path;
  if (!at.starts_with(prefix)) return path;
  at.remove_prefix(prefix.size() - 1);
  while (!at.empty()) {
    at.remove_prefix(1);
    const std::string_view digits = at.substr(0, at.find('_'));
    std::uint64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_number = read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
    if (!is_number || (digits.size() > 1 && digits.front() == '0')) return {};
    path.push_back(number);
    at.remove_prefix(digits.size());
  }
  return path;
}

std::size_t roots_of(const State& state) noexcept {
  return static_cast<std::size_t>(std::count_if(state.shards.begin(), state.shards.end(),
                                                [](const Shard& shard) { return !shard.parent; }));
}

// Whether each number is the one before it, or that and what its depth adds.
bool is_way(const std::vector<std::uint64_t>& path, std::uint64_t roots) noexcept {
  if (path.empty() || path.front() >= roots || path.size() > limits::split_tree_depth + 1) {
    return false;
  }
  for (std::size_t d = 0; d + 1 < path.size(); ++d) {
    if (path[d + 1] != path[d] && path[d + 1] != path[d] + (roots << d)) return false;
  }
  return true;
}

Result<void> check_tree(const State& state) {
  if (auto checked = check_shards(state, bucket_count); !checked) return checked.error();
  const std::size_t roots = roots_of(state);
  if (roots == 0) return invalid_input("shards: there is none; give shard_0 at least");
  // A whole tree weighs as much as its roots: a leaf at depth d has 2^(most - d) of its root.
  std::vector<std::uint64_t> weights(roots);
  std::map<std::vector<std::uint64_t>, std::size_t> leaves;
  for (std::size_t i = 0; i < state.shards.size(); ++i) {
    auto path = path_of(state.shards[i].at);
    if (!is_way(path, roots)) {
      return invalid_input(fmt::format(
          "{}.at: {} is no leaf of a tree with {} roots; leaves are shard_n, shard_n_n and "
          "shard_n_(n + {}), and so on",
          place_of(i), quotation(state.shards[i].at), roots, roots));
    }
    weights[path.front()] += std::uint64_t{1} << (limits::split_tree_depth + 1 - path.size());
    leaves.emplace(std::move(path), i);
  }
  for (auto leaf = leaves.begin(); leaf != leaves.end() && std::next(leaf) != leaves.end();
       ++leaf) {
    const auto& next = std::next(leaf)->first;
    const bool is_below = next.size() > leaf->first.size() &&
                          std::equal(leaf->first.begin(), leaf->first.end(), next.begin());
    if (is_below) {
      return invalid_input(fmt::format("{}.at: lies below {}, which is a leaf too",
                                       place_of(std::next(leaf)->second),
                                       quotation(state.shards[leaf->second].at)));
    }
  }
  const bool is_unique = leaves.size() == state.shards.size();
  const auto wrong = std::find_if(weights.begin(), weights.end(), [](std::uint64_t weight) {
    return weight != std::uint64_t{1} << limits::split_tree_depth;
  });
  if (is_unique && wrong == weights.end()) return {};
  return invalid_input(fmt::format(
      "shards: the leaves below shard_{} overlap or leave keys out; a shard is split into both of "
      "its halves",
      wrong - weights.begin()));
}

std::uint64_t number_of(const ShardKey& key) noexcept {
  const std::string_view text = text_of(key);
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number =
      !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size();
  return is_number ? number : key.hash;
}

}  // namespace

SplitTree::SplitTree(std::span<const Member> members, const State& state)
    : Sharded(members, state), roots_(roots_of(state)), nodes_(roots_) {
  for (std::size_t i = 0; i < state.shards.size(); ++i) {
    grow(state.shards[i], static_cast<Bucket>(i));
  }
}

void SplitTree::grow(const Shard& shard, Bucket leaf) {
  const auto path = path_of(shard.at);
  std::size_t node = path.front();
  for (std::size_t d = 0; d + 1 < path.size(); ++d) {
    if (nodes_[node].high == 0) {
      nodes_[node].low = static_cast<std::uint32_t>(nodes_.size());
      nodes_[node].high = nodes_[node].low + 1;
      nodes_.resize(nodes_.size() + 2);
    }
    node = path[d + 1] == path[d] ? nodes_[node].low : nodes_[node].high;
  }
  nodes_[node].leaf = leaf;
}

Bucket SplitTree::bucket_for(const ShardKey& key) const noexcept {
  const std::uint64_t number = number_of(key);
  std::uint64_t halves = number / roots_;
  const Node* node = &nodes_[number % roots_];
  while (node->high != 0) {
    node = &nodes_[(halves & 1) != 0 ? node->high : node->low];
    halves >>= 1;
  }
  return node->leaf;
}

State first_tree() { return tree_of(limits::split_tree_roots); }

State tree_of(std::size_t roots) {
  State state;
  for (std::size_t i = 0; i < roots; ++i) {
    state.shards.push_back({fmt::format("{}{}", prefix, i), "", std::nullopt});
  }
  return state;
}

std::string roots_of_tree(const State& state) { return fmt::format("{}", roots_of(state)); }

Result<State> split_leaf(const State& state, const Cut& cut) {
  if (!cut.at.empty()) return invalid_input("a leaf of the tree splits by itself: name no key");
  auto out = split_leaves(state, std::span(&cut.shard, 1));
  if (out && !cut.owners.empty()) out->shards.back().owner = cut.owners.front();
  return out;
}

Result<State> split_leaves(const State& state, std::span<const std::size_t> shards) {
  State out = state;
  const std::uint64_t roots = roots_of(state);
  for (const std::size_t shard : shards) {
    Shard& kept = out.shards[shard];
    const auto path = path_of(kept.at);
    if (path.size() > limits::split_tree_depth) {
      return invalid_input(fmt::format("{} was split {} times, and is not split any further",
                                       quotation(kept.at), limits::split_tree_depth));
    }
    const std::uint64_t other = path.back() + (roots << (path.size() - 1));
    Shard added{fmt::format("{}_{}", kept.at, other), {}, shard};
    kept.at += fmt::format("_{}", path.back());
    out.shards.push_back(std::move(added));
  }
  if (auto checked = check_tree(out); !checked) return checked.error();
  return out;
}

std::optional<std::vector<std::string>> where_to_split(const State& state, std::size_t shard,
                                                       std::vector<std::string> keys) {
  const bool is_one_key =
      std::adjacent_find(keys.begin(), keys.end(), std::not_equal_to<>()) == keys.end();
  const std::size_t depth = path_of(state.shards[shard].at).size();
  if (is_one_key || depth > limits::split_tree_depth) return std::nullopt;
  return std::vector<std::string>{};
}

Result<std::shared_ptr<const Scheme>> make_split_tree(std::span<const Member> members,
                                                      const State& state) {
  if (auto checked = check_tree(state); !checked) return checked.error();
  return std::shared_ptr<const Scheme>(std::make_shared<SplitTree>(members, state));
}

}  // namespace ringside::shard
