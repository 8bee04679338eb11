#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shard/coarse_buckets.h"
#include "shard/rendezvous.h"
#include "shard/topology.h"

namespace ringside::shard {

// The keys that a directory does not have lie in so many buckets, the high bits of their hash.
inline constexpr std::size_t directory_buckets = coarse_buckets;
// And so many keys it may have, each a bucket of its own.
inline constexpr std::size_t directory_keys = bucket_count - directory_buckets;

// Scheme `directory`: keys whose replica is written down, and all others by a fallback scheme,
// which is one by bucket. A key keeps its replica whatever becomes of the tier: one of weight 0
// takes no new keys and keeps its old ones, so it is the first choice for these alone. Where a
// replica is gone, its keys are at the fallback's until they are placed anew. One key moves by one
// change of its row.
class Directory final : public Scheme {
 public:
  Directory(std::span<const Member> members, const State& state,
            std::shared_ptr<const Scheme> fallback);
  [[nodiscard]] std::string_view name() const noexcept override { return "directory"; }
  [[nodiscard]] Bucket bucket_for(const ShardKey& key) const noexcept override;
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override {
    owners_of(bucket_for(key), n, owners);
  }
  void owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;
  [[nodiscard]] std::size_t first_shard() const noexcept override { return directory_buckets; }
  // A key's bucket before it was placed.
  [[nodiscard]] std::optional<Bucket> parent_of(Bucket bucket) const noexcept override;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return hash64(text); }
  };
  struct Placed {
    std::optional<MemberIndex> owner;  // nullopt: it is no member
    Bucket before = 0;                 // that it is in without the directory
  };
  std::shared_ptr<const Scheme> fallback_;
  std::size_t members_ = 0;
  std::unordered_map<std::string, Bucket, TextHash, std::equal_to<>> buckets_;  // by key
  std::vector<Placed> placed_;  // the bucket directory_buckets is the first one's
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_directory(std::span<const Member> members,
                                                                   const State& state);
// No key, and the ring for all of them.
[[nodiscard]] State first_directory();
// Its buckets are the same whatever keys there are.
[[nodiscard]] std::string roots_of_directory(const State& state);
// Places the keys that are named, or moves those that are placed already, to the owners that are
// named, or to nobody in particular.
[[nodiscard]] Result<State> place_keys(const State& state, const Cut& cut);

// Whom a key that is new goes to: by chance in proportion to the members' weights, chance being the
// key's hash, so that it is the same whoever asks. Requires a member with a weight.
[[nodiscard]] MemberIndex place_at_first_sight(std::string_view key,
                                               std::span<const Member> members) noexcept;

}  // namespace ringside::shard
