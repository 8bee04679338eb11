#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/purge_target.h"
#include "http/scheme.h"
#include "http/target.h"
#include "shard/topology.h"

namespace ringside::cache {

// Whose keys they are. Who has not proved to be a member says nothing of the shard key, such as the
// country: what is stored for its requests must not be given to a member's.
enum class Keyspace { members, strangers };

// What identifies a stored response before Vary: host, normalised path and query, and then the
// scheme, what the sidecar said of the shard key, and the route where headers chose it. The parts
// can't contain the separating line feed. The scheme stands behind what all keys of a URI share, so
// that a purge or an invalidation, which are of both schemes, find both in one place.
struct CacheKey {
  std::string text;
  std::size_t uri_size_bytes = 0;  // of the text's beginning that all keys of its URI share
  std::uint64_t hash = 0;          // of that beginning: a URI's keys lie in one place
  std::uint64_t own_hash = 0;      // of all of it
  // Of the shard key that chose this replica, where somebody has said so. It identifies nothing:
  // equal keys have equal buckets, as long as their route's shard key is made of the same.
  std::optional<shard::Bucket> bucket = std::nullopt;

  // All but the bucket, which is forgotten. `route`: the name of a route that was chosen by
  // headers, which the other parts know nothing of; else empty.
  void assign(http::Scheme scheme, std::string_view host, const http::Target& target,
              std::string_view extra_key, Keyspace keyspace = Keyspace::members,
              std::string_view route = {});
  [[nodiscard]] std::string_view uri() const noexcept {
    return std::string_view(text).substr(0, uri_size_bytes);
  }
};

// The part of a key's text that all keys of one URI share, of both schemes and all shard keys.
[[nodiscard]] std::string uri_prefix(std::string_view host, std::string_view path_and_query);

// What all keys begin with that are to be purged.
[[nodiscard]] std::string purged_prefix(const http::PurgeTarget& purged);

// A key of the URI, to find all of its keys by.
[[nodiscard]] CacheKey key_of_uri(std::string_view host, std::string_view path_and_query);

// The key for people: `http a.test /path?query DE`.
[[nodiscard]] std::string readable(const CacheKey& key);

// The key of a slice after the first. It names the entity tag: what stands under it is part of that
// entity and of no other, for ever, so that the first slice alone has to be validated. Its bucket
// is the object's.
[[nodiscard]] CacheKey slice_key(const CacheKey& object, std::uint64_t index,
                                 std::string_view strong_tag);

}  // namespace ringside::cache
