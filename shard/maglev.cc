#include "shard/maglev.h"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <limits>

#include "base/limits.h"
#include "shard/mix.h"

namespace ringside::shard {
namespace {

constexpr MemberIndex nobody = std::numeric_limits<MemberIndex>::max();

// One who takes turns. Its order of the entries is next, next + step, …, modulo their count.
struct Player {
  MemberIndex member = 0;
  std::uint32_t weight = 0;
  std::size_t next = 0;
  std::size_t step = 0;
  std::uint32_t saved = 0;  // of the heaviest one's weight: a turn costs all of it
};

Player player_of(const Member& member, MemberIndex index) {
  const std::uint64_t hash = hash64(member.name);
  return {index, member.weight, hash % maglev_entries, mix64(hash) % (maglev_entries - 1) + 1, 0};
}

// Requires a free entry.
void take_turn(Player& player, std::vector<MemberIndex>& table) {
  while (table[player.next] != nobody) player.next = (player.next + player.step) % maglev_entries;
  table[player.next] = player.member;
}

std::vector<MemberIndex> table_of(std::vector<Player>& players) {
  std::vector<MemberIndex> table(maglev_entries, nobody);
  std::uint32_t heaviest = 0;
  for (const Player& player : players) heaviest = std::max(heaviest, player.weight);
  for (std::size_t free = table.size(); free > 0;) {
    for (Player& player : players) {
      player.saved += player.weight;
      if (player.saved < heaviest) continue;
      player.saved -= heaviest;
      take_turn(player, table);
      if (--free == 0) break;
    }
  }
  return table;
}

std::size_t entry_of(Bucket bucket) noexcept { return hash_of(bucket) % maglev_entries; }

}  // namespace

Maglev::Maglev(std::span<const Member> members) {
  std::vector<Player> players;
  for (MemberIndex index = 0; index < members.size(); ++index) {
    if (members[index].weight == 0) continue;
    members_.push_back(index);
    players.push_back(player_of(members[index], index));
  }
  if (!players.empty()) table_ = table_of(players);
}

void Maglev::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  owners.clear();
  const std::size_t wanted = std::min(n, members_.size());
  std::bitset<limits::members> seen;
  const auto add = [&](MemberIndex member) {
    if (owners.size() == wanted || seen.test(member)) return;
    seen.set(member);
    owners.push_back(member);
  };
  std::size_t entry = entry_of(bucket_of(key.hash));
  for (std::size_t i = 0; i < table_.size() && owners.size() < wanted; ++i) {
    add(table_[entry]);
    entry = entry + 1 == table_.size() ? 0 : entry + 1;
  }
  // One of very little weight among very heavy ones may have no entry.
  for (const MemberIndex member : members_) add(member);
}

std::vector<MemberIndex> Maglev::bucket_owners() const {
  std::vector<MemberIndex> owners;
  if (table_.empty()) return owners;
  owners.reserve(bucket_count);
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    owners.push_back(table_[entry_of(static_cast<Bucket>(bucket))]);
  }
  return owners;
}

Result<std::shared_ptr<const Scheme>> make_maglev(std::span<const Member> members) {
  return std::shared_ptr<const Scheme>(std::make_shared<Maglev>(members));
}

}  // namespace ringside::shard
