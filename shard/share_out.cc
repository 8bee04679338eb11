#include "shard/share_out.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>

#include "shard/rendezvous.h"

namespace ringside::shard {
namespace {

class Hands {
 public:
  Hands(std::span<const Member> members, std::span<const Shard> shards)
      : members_(members), shards_(shards), by_member_(members.size()), is_here_(members.size()) {
    out_.owners.resize(shards.size());
    for (MemberIndex i = 0; i < members.size(); ++i) {
      index_of_[members[i].name] = i;
      weights_.push_back(members[i].weight);
    }
  }

  ShareOut deal() {
    const bool somebody_is_named = deal_to_named();
    if (!somebody_is_named) {
      weigh_who_drains();
      deal_all_to_first();
    }
    out_.before = out_.owners;
    for (MemberIndex member = 0; member < members_.size(); ++member) {
      if (!is_here_[member] && weights_[member] > 0) let_in(member);
    }
    for (auto member = static_cast<MemberIndex>(members_.size()); member-- > 0;) {
      if (members_[member].weight == 0 && is_here_[member]) let_go(member);
    }
    return std::move(out_);
  }

 private:
  // The named owner, where it is there and has a weight.
  [[nodiscard]] std::optional<MemberIndex> named(const Shard& shard) const {
    const auto found = index_of_.find(shard.owner);
    if (found == index_of_.end() || members_[found->second].weight == 0) return std::nullopt;
    return found->second;
  }

  void give(std::size_t shard, MemberIndex member) {
    out_.owners[shard] = member;
    by_member_[member].push_back(shard);
  }

  void enter(MemberIndex member) {
    if (is_here_[member]) return;
    is_here_[member] = true;
    weight_ += weights_[member];
  }

  bool deal_to_named() {
    for (const Shard& shard : shards_) {
      if (const auto owner = named(shard)) enter(*owner);
    }
    if (weight_ == 0) return false;
    std::vector<Member> here(members_.begin(), members_.end());
    for (MemberIndex i = 0; i < here.size(); ++i) {
      if (!is_here_[i]) here[i].weight = 0;
    }
    const Rendezvous choices(here);
    std::vector<MemberIndex> first;
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      if (const auto owner = named(shards_[shard])) give(shard, *owner);
    }
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      if (named(shards_[shard])) continue;
      choices.owners({{}, std::uint64_t{shard} << (64 - bucket_bits)}, 1, first);
      give(shard, first.front());
    }
    return true;
  }

  // As if it had the least weight that anybody has: what it had before, most often. One behind all
  // who have a weight takes nothing of theirs.
  void weigh_who_drains() {
    std::uint32_t least = 0;
    std::size_t end = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0) continue;
      least = least == 0 ? weights_[i] : std::min(least, weights_[i]);
      end = i;
    }
    for (std::size_t i = 0; i < end; ++i) {
      if (weights_[i] > 0) continue;
      weights_[i] = least;
      had_before_.resize(shards_.size());
    }
  }

  void deal_all_to_first() {
    enter(0);
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) give(shard, 0);
  }

  // Who has more for its weight comes before; of equals the one that is first.
  [[nodiscard]] bool has_less(MemberIndex a, MemberIndex b) const {
    const auto of_a = std::uint64_t{by_member_[a].size()} * weights_[b];
    const auto of_b = std::uint64_t{by_member_[b].size()} * weights_[a];
    return of_a != of_b ? of_a < of_b : a > b;
  }

  void let_in(MemberIndex newcomer) {
    const auto less = [this](MemberIndex a, MemberIndex b) { return has_less(a, b); };
    std::priority_queue<MemberIndex, std::vector<MemberIndex>, decltype(less)> givers(less);
    for (MemberIndex member = 0; member < members_.size(); ++member) {
      if (is_here_[member]) givers.push(member);
    }
    enter(newcomer);
    out_.before = out_.owners;
    const std::uint64_t share = shards_.size() * weights_[newcomer] / weight_;
    for (std::uint64_t taken = 0; taken < share; ++taken) {
      const MemberIndex giver = givers.top();
      givers.pop();
      const std::size_t shard = by_member_[giver].back();
      by_member_[giver].pop_back();
      if (!had_before_.empty()) had_before_[shard].push_back(giver);
      give(shard, newcomer);
      givers.push(giver);
    }
  }

  [[nodiscard]] MemberIndex who_has_least() const {
    std::optional<MemberIndex> least;
    for (MemberIndex member = 0; member < members_.size(); ++member) {
      if (is_here_[member] && (!least || has_less(member, *least))) least = member;
    }
    return *least;
  }

  // Each goes to who has the least for its weight: of equals to who had it before.
  void let_go(MemberIndex leaver) {
    is_here_[leaver] = false;
    weight_ -= weights_[leaver];
    std::vector<std::size_t> shards = std::exchange(by_member_[leaver], {});
    std::reverse(shards.begin(), shards.end());
    for (const std::size_t shard : shards) {
      MemberIndex taker = who_has_least();
      for (const MemberIndex had : had_before_[shard]) {
        const bool has_as_little =
            by_member_[had].size() * weights_[taker] <= by_member_[taker].size() * weights_[had];
        if (is_here_[had] && has_as_little) taker = had;
      }
      give(shard, taker);
      out_.before[shard] = taker;
    }
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      if (out_.before[shard] == leaver) out_.before[shard] = out_.owners[shard];
    }
  }

  std::span<const Member> members_;
  std::span<const Shard> shards_;
  std::map<std::string_view, MemberIndex> index_of_;
  std::vector<std::vector<std::size_t>> by_member_;  // of each those that it has had longest first
  std::vector<bool> is_here_;
  std::vector<std::uint32_t> weights_;
  // Of each shard who had it, the last one last; empty: nobody drains.
  std::vector<std::vector<MemberIndex>> had_before_;
  std::uint64_t weight_ = 0;  // of those who are here
  ShareOut out_;
};

}  // namespace

ShareOut share_out(std::span<const Member> members, std::span<const Shard> shards) {
  const bool anybody = std::any_of(members.begin(), members.end(),
                                   [](const Member& member) { return member.weight > 0; });
  if (!anybody) return {};
  return Hands(members, shards).deal();
}

}  // namespace ringside::shard
