#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "shard/member.h"
#include "shard/state.h"

namespace ringside::shard {

constexpr unsigned bucket_bits = 14;
constexpr std::size_t bucket_count = std::size_t{1} << bucket_bits;  // 16,384

using Bucket = std::uint16_t;  // the index of one: less than bucket_count

// The index of a bucket is the high 14 bits of the key's 64-bit hash, unless the scheme says
// otherwise (Topology::bucket_for).
[[nodiscard]] constexpr Bucket bucket_of(std::uint64_t key_hash) noexcept {
  return static_cast<Bucket>(key_hash >> (64 - bucket_bits));
}

// Position of a member in Topology::members(), which are sorted by name in natural_order.
using MemberIndex = std::uint32_t;

// What a scheme may look at.
struct ShardKey {
  std::string_view bytes;
  std::uint64_t hash = 0;  // hash64(bytes)
};

// The rule that gives each bucket, or in compatibility schemes each key, its replica. Immutable.
// Pure: no I/O, no clock; what state it has was given to it. Thread-safe.
class Scheme {
 public:
  virtual ~Scheme() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  // The first of owners(). Requires a member with a weight. Only asked where there is no table of
  // buckets, or a key's place in it costs more; no memory is allocated for it.
  [[nodiscard]] virtual MemberIndex owner(const ShardKey& key) const;
  // The first min(n, members with a weight) distinct members in order of preference, into `owners`
  // (replaced). A member of weight 0 is never among them, unless a key was placed there by hand.
  virtual void owners(const ShardKey& key, std::size_t n,
                      std::vector<MemberIndex>& owners) const = 0;
  // A scheme is by bucket where all keys of a bucket have the same owners, so that a table of
  // buckets says it all: in which bucket a key is, and the owners of all keys in it.
  [[nodiscard]] virtual Bucket bucket_for(const ShardKey& key) const noexcept {
    return shard::bucket_of(key.hash);
  }
  virtual void owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const {
    this->owners({{}, std::uint64_t{bucket} << (64 - bucket_bits)}, n, owners);
  }
  // The bucket of shard 0 of a state: before it are those of keys by hash, and behind it those of
  // all other shards, in the order of their numbers.
  [[nodiscard]] virtual std::size_t first_shard() const noexcept { return 0; }
  // The bucket of which this one was cut, a lower one; nullopt: it was there from the beginning.
  [[nodiscard]] virtual std::optional<Bucket> parent_of(Bucket /*bucket*/) const noexcept {
    return std::nullopt;
  }
  // The first owner of every bucket; empty where the scheme is not by bucket or has no members.
  // There are bucket_count of them, or with a state or numbers of its own as many as it has.
  [[nodiscard]] virtual std::vector<MemberIndex> bucket_owners() const { return {}; }
  // What the numbers of its buckets mean, where it has no state and finds a key's bucket otherwise
  // than by the key's hash; else empty.
  [[nodiscard]] virtual std::string own_numbers() const { return {}; }
  // Whose its buckets are, where that is to be remembered (shard/vbucket.h); else empty.
  [[nodiscard]] virtual std::vector<TableRow> table_to_keep() const { return {}; }
};

// An immutable value: the members, the scheme and its table. Shared by reference
// count between threads.
class Topology {
 public:
  // Sorts the members by name, in natural_order. Refuses duplicate names, names, zones and weights
  // that shard/member.h refuses, too many members, too much weight together or none and unknown
  // schemes. `scheme` may name those of routes besides (shard/schemes.h). No members is a topology
  // too: nobody owns anything. `version` is the order given by the source and not part of the id.
  // An empty state is the scheme's first one, where it has one; any other is refused where it has
  // none, or does not understand it.
  [[nodiscard]] static Result<std::shared_ptr<const Topology>> make(std::vector<Member> members,
                                                                    std::string_view scheme,
                                                                    std::uint64_t version,
                                                                    State state = {});

  [[nodiscard]] const Hash128& id() const noexcept { return id_; }
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }
  [[nodiscard]] std::string_view scheme() const noexcept { return scheme_->name(); }

  [[nodiscard]] const State& state() const noexcept { return state_; }
  // state(), in which each shard names its present owner, so that a cut moves nothing else. Where
  // there are as many shards as members, a topology of it and the same members has the same owners.
  // Keys of a directory are named anyway.
  [[nodiscard]] State state_with_owners() const;
  // What its writer keeps, so that the next change goes from here: state(), with the table that is
  // in use, where the scheme has one. A topology of it and the same members has the same owners.
  [[nodiscard]] State state_to_keep() const;
  // Whether the scheme says in which bucket a key is, and not the key's hash alone.
  [[nodiscard]] bool finds_buckets() const noexcept { return numbering_ != 0; }
  // Whether replicas are told the shard key itself, to find its bucket by. Also where a scheme does
  // so with other members only: what is stored is found under the same key before and after.
  [[nodiscard]] bool needs_keys() const noexcept { return finds_buckets() || is_asked_by_key_; }
  [[nodiscard]] std::size_t first_shard() const noexcept { return scheme_->first_shard(); }

  // Whether routes have schemes of their own. Then the first value of each key is what
  // scheme_route() gives for its route; the scheme sees the rest.
  [[nodiscard]] bool has_routes() const noexcept { return !routes_.empty(); }
  // The route itself, where it has a scheme of its own; else empty.
  [[nodiscard]] std::string_view scheme_route(std::string_view route) const noexcept;
  // The key as its scheme sees it.
  [[nodiscard]] std::string_view own_key(std::string_view key) const noexcept;
  // What the numbers of buckets mean. All schemes by which the hash says it have the same one, 0.
  [[nodiscard]] std::uint64_t numbering() const noexcept { return numbering_; }
  // True: the numbers mean the same, and all of its buckets that `before` has not were cut of such
  // as it has, or of each other.
  [[nodiscard]] bool extends(const Topology& before) const noexcept;

  // Whether anything is a member's. One of weight 0 may have keys that were placed there by hand.
  [[nodiscard]] bool owns_any(MemberIndex member) const noexcept { return owns_any_[member]; }

  // Nothing where no member has that name.
  [[nodiscard]] std::optional<MemberIndex> find(std::string_view member_name) const noexcept;

  // Requires that the scheme is by bucket.
  [[nodiscard]] Bucket bucket_for(const ShardKey& key) const noexcept {
    return finds_buckets() ? scheme_->bucket_for(key) : shard::bucket_of(key.hash);
  }
  // The bucket of which this one was cut; nullopt: of none.
  [[nodiscard]] std::optional<Bucket> parent_of(Bucket bucket) const noexcept {
    return finds_buckets() ? scheme_->parent_of(bucket) : std::nullopt;
  }
  // Requires at least one member. One load from a table where the scheme is by bucket.
  [[nodiscard]] MemberIndex owner(const ShardKey& key) const;
  // Replaces `owners` by the first min(n, members with a weight) distinct members in order of
  // preference; the first is owner(key), and a shorter list is the beginning of a longer one. A
  // member of weight 0 is in no list: it gives away what it has.
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const;
  // Likewise of all keys in a bucket. Requires that the scheme is by bucket.
  void owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const {
    scheme_->owners_of(bucket, n, owners);
  }
  // The owner of every bucket; empty where the scheme is not by bucket or there are no members.
  [[nodiscard]] const std::vector<MemberIndex>& bucket_owners() const noexcept {
    return bucket_owners_;
  }

 private:
  Topology() = default;
  std::vector<Member> members_;
  State state_;
  std::shared_ptr<const Scheme> scheme_;
  std::vector<MemberIndex> bucket_owners_;
  bool is_asked_by_key_ = false;     // and not by the table
  std::vector<bool> owns_any_;       // by member
  std::vector<std::string> routes_;  // that have a scheme of their own, sorted
  std::uint64_t version_ = 0;
  std::uint64_t numbering_ = 0;
  Hash128 id_;
};

// The names of all schemes, sorted: what `--scheme` takes.
[[nodiscard]] std::vector<std::string_view> scheme_names();

// The buckets of `after` that have another owner (by name) than in `before`, or than the one has
// of which they were cut since; all of them where the two have other numberings. Requires that both
// are by bucket. Without members a bucket has no owner, which is another owner than any.
struct Move {
  Bucket bucket = 0;
  std::optional<MemberIndex> from{};  // in `before`; nullopt: it had none
  std::optional<MemberIndex> to{};    // in `after`; nullopt: it has none
  bool operator==(const Move&) const = default;
};
[[nodiscard]] std::vector<Move> diff(const Topology& before, const Topology& after);
[[nodiscard]] std::size_t moved_buckets(const Topology& before, const Topology& after);

}  // namespace ringside::shard
