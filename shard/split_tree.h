#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shard/sharded.h"

namespace ringside::shard {

// Scheme `split-tree`: the dynamic binary tree. It begins with m shards, shard_0 to shard_(m-1),
// and a key is in that of its remainder modulo m. A shard that holds more than it may splits into
// shard_n_n, which keeps its number, and shard_n_(n + m·2^d), d being how often it was split
// before: the keys of the one are those whose number modulo m·2^(d+1) is n, of the other n + m·2^d.
// A key's number is the key itself where it is one, else its hash. Who looks for a key walks from
// the root. tests/golden/split_tree.json.
class SplitTree final : public Sharded {
 public:
  // Requires what make_split_tree checks.
  SplitTree(std::span<const Member> members, const State& state);
  [[nodiscard]] std::string_view name() const noexcept override { return "split-tree"; }
  [[nodiscard]] Bucket bucket_for(const ShardKey& key) const noexcept override;

 private:
  struct Node {
    Bucket leaf = 0;
    std::uint32_t low = 0;  // the children, if there are any: the root's place is nobody's child
    std::uint32_t high = 0;
  };
  void grow(const Shard& shard, Bucket leaf);

  std::uint64_t roots_ = 0;
  std::vector<Node> nodes_;  // the roots first
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_split_tree(std::span<const Member> members,
                                                                    const State& state);
// limits::split_tree_roots shards, none of which was split.
[[nodiscard]] State first_tree();
[[nodiscard]] State tree_of(std::size_t roots);
// Their number.
[[nodiscard]] std::string roots_of_tree(const State& state);
// Splits a leaf in two.
[[nodiscard]] Result<State> split_leaf(const State& state, const Cut& cut);
// Likewise, of several, each of which names no key. Numbers of shards, each at most once.
[[nodiscard]] Result<State> split_leaves(const State& state, std::span<const std::size_t> shards);
// Its name says where, as long as it may be split once more and more than one key is in it.
[[nodiscard]] std::optional<std::vector<std::string>> where_to_split(const State& state,
                                                                     std::size_t shard,
                                                                     std::vector<std::string> keys);

}  // namespace ringside::shard
