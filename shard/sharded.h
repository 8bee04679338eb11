#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shard/rendezvous.h"
#include "shard/share_out.h"
#include "shard/topology.h"

namespace ringside::shard {

// A key as a state names it: without the line feed behind its last value.
[[nodiscard]] constexpr std::string_view text_of(const ShardKey& key) noexcept {
  std::string_view text = key.bytes;
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// What schemes with state have in common: the shards are the buckets. The first choice for one is
// who has it by share_out(), the second of what the last member took is who had it before, and all
// others follow in the order of rendezvous.
class Sharded : public Scheme {
 public:
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const final {
    owners_of(bucket_for(key), n, owners);
  }
  void owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const final;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const final { return shared_.owners; }
  [[nodiscard]] std::optional<Bucket> parent_of(Bucket bucket) const noexcept final {
    return bucket < parents_.size() ? parents_[bucket] : std::nullopt;
  }

 protected:
  Sharded(std::span<const Member> members, const State& state);

 private:
  ShareOut shared_;
  std::vector<std::optional<Bucket>> parents_;
  std::size_t members_ = 0;
  std::size_t last_ = 0;  // the last member with a weight
  Rendezvous others_;
};

}  // namespace ringside::shard
