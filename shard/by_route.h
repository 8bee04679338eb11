#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shard/schemes.h"
#include "shard/topology.h"

namespace ringside::shard {

// How many schemes by hash, directories among them, the routes of a tier may have together: each
// has coarse_buckets, and what is left of the numbers of buckets is for shards. Where there are
// fewer, the rings of others have what is left, each as much: an arc needs a number.
inline constexpr std::size_t hashed_schemes_most = 3;

// Which scheme the keys of a route have, and which buckets are its.
struct RoutePart {
  std::string route;  // empty: of all routes that have no scheme of their own
  SchemePointer scheme;
  std::optional<std::size_t> first_bucket{};  // of keys by hash; or none
  std::size_t buckets = 0;                    // so many of them, of which not all may be used
  std::size_t own_buckets = 0;   // that the scheme itself numbers, by a hash of its own; or 0
  std::vector<Bucket> shards{};  // the bucket of each of its shards, in the order of their numbers
};

// The schemes of a tier whose routes have some of their own: one scheme made of all of them. The
// first value of a key (append_key_value) is its route's, or empty, and the scheme of that route
// sees the rest. So the handoff has one row of buckets, whatever they are made of:
//
//   1. for each scheme by hash, and each directory, coarse_buckets of keys by hash, or more; routes
//      that have the same scheme by hash share them,
//   2. the shards of all schemes that have some, in the order in which they were cut or placed.
class ByRoute final : public Scheme {
 public:
  ByRoute(std::string text, std::vector<RoutePart> parts, const State& state, bool has_members);
  // `ring,films=range`
  [[nodiscard]] std::string_view name() const noexcept override { return text_; }
  [[nodiscard]] Bucket bucket_for(const ShardKey& key) const noexcept override;
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override {
    owners_of(bucket_for(key), n, owners);
  }
  void owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<TableRow> table_to_keep() const override;
  [[nodiscard]] std::string own_numbers() const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;
  [[nodiscard]] std::size_t first_shard() const noexcept override { return first_shard_; }
  [[nodiscard]] std::optional<Bucket> parent_of(Bucket bucket) const noexcept override;

 private:
  // A bucket as its own scheme numbers it.
  struct Place {
    std::size_t part = 0;
    Bucket bucket = 0;
  };
  [[nodiscard]] Place place_of(Bucket bucket) const noexcept;
  [[nodiscard]] Bucket number_of(const RoutePart& part, Bucket bucket) const noexcept;

  std::string text_;
  std::vector<RoutePart> parts_;  // the first one is of all other routes
  std::vector<Place> shards_;
  std::vector<std::size_t> hashed_;  // by coarse_buckets: the part that has them first
  std::size_t first_shard_ = 0;
  bool has_members_ = false;
};

// What a SchemeEntry has functions for, of all schemes together. An Error names the route.
[[nodiscard]] Result<SchemePointer> make_by_route(const Schemes& schemes,
                                                  std::span<const Member> members,
                                                  const State& state);
[[nodiscard]] State first_state_by_route(const Schemes& schemes);
[[nodiscard]] std::string roots_by_route(const Schemes& schemes, const State& state);
[[nodiscard]] Result<State> cut_by_route(const Schemes& schemes, const State& state,
                                         const Cut& cut);
[[nodiscard]] std::optional<std::vector<std::string>> where_to_cut_by_route(
    const Schemes& schemes, const State& state, std::size_t shard, std::vector<std::string> keys);

// Where a directory has the keys by hash that it does not name.
[[nodiscard]] std::vector<Placeable> placeable_by_route(const Schemes& schemes);

}  // namespace ringside::shard
