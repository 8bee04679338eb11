#pragma once

#include <string>
#include <string_view>

#include "base/address.h"
#include "base/error.h"
#include "geo/country.h"
#include "http/fields.h"
#include "http/target.h"
#include "shard/shard_key.h"
#include "shard/topology.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// Everything about a request that its shard may depend on.
struct RequestFacts {
  std::string_view host;  // normalised
  const http::Target& target;
  const http::Fields& fields;  // of the canonical request
  IpAddress client;
  geo::Country country;
};

// The key with the segment of each `id:{name}`, as the route's path has it; an Error names one that
// the path has not.
[[nodiscard]] Result<shard::KeySpec> located(shard::KeySpec key, std::string_view route_path);

// The key by which the route's requests for this path choose their replica: its own, or where the
// path has not every id that it takes, its fallback. Without one they are refused (400). Part of
// the path alone decides, so equal cache keys have equal shard keys.
[[nodiscard]] Result<const shard::KeySpec*> key_for(const Route& route, const http::Target& target);

// Makes the key by which the request chooses its replica, of what `keyed_by` asks for: that is the
// route's key or its fallback. Where routes have schemes of their own, it says first which scheme
// it is of (shard/by_route.h); one that is made by the fallback is of the tier's own, since it is
// none of what the route's scheme knows.
void make_shard_key(std::string& key, const shard::Topology& topology, const Route& route,
                    const shard::KeySpec& keyed_by, const RequestFacts& facts);

// Appends the bytes of the shard key that `spec` asks for. Absent headers and cookies count as
// empty; a header counts as the origin is sent it (http/canonical_field.h). Of a cookie whose name
// stands twice all values count: which of them an origin reads is its own affair.
void build_shard_key(std::string& key, const shard::KeySpec& spec, const RequestFacts& facts);

// Appends what a replica can't see for itself (all but path, its ids, query and host), in a form
// that fits a field value: what goes into its cache key besides the URI. Equal values, and equal
// URIs, always mean equal shard keys, and more than that, that the origin is sent the same:
// - absent and empty headers and cookies differ;
// - where it is not certain what an origin takes for the cookie (quotes, commas, another case, odd
//   names), all cookies count;
// - so do the fields by which trusted proxies tell what was asked of them (is_of_proxies).
void build_extra_key(std::string& out, const shard::KeySpec& spec, const RequestFacts& facts);

// Adds the shard key itself (Topology::needs_keys): the replica finds its bucket by it, for as long
// as the answer is stored (cache/bucket_labels.h).
void append_shard_key(std::string& out, std::string_view shard_key);

}  // namespace ringside::sidecar
