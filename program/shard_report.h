#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "program/configuration.h"
#include "program/countries.h"
#include "program/membership.h"
#include "sidecar/settings.h"

namespace ringside::program {

struct ShardOptions {
  IpAddress client;  // of the requests
  std::vector<std::pair<std::string, std::string>> headers;
  bool json = false;
  std::vector<std::string> urls;  // "-": lines `URL` or `IP URL` from stdin
};

// What `ringside shard` tells of one request.
struct ShardAnswer {
  std::string url;
  std::string route;  // empty: none matches
  std::string country;
  std::string keyed_by;      // the parts of the key, as they are configured
  bool is_fallback = false;  // the path has not what the route's own key takes
  std::string key;           // its bytes
  std::uint64_t hash = 0;
  std::size_t bucket = 0;
  std::vector<std::string> owners;  // in order of preference; the first is the owner
};

// Decides as the sidecar does, with its own functions.
[[nodiscard]] Result<ShardAnswer> find_shard(const sidecar::Settings& settings,
                                             const ShardOptions& options, const IpAddress& client,
                                             std::string_view url);

// `Name: value`; an Error names the remedy.
[[nodiscard]] Result<std::pair<std::string, std::string>> parse_header(std::string_view text);

// An aligned table, or a JSON array.
[[nodiscard]] std::string to_table(const std::vector<ShardAnswer>& answers);
[[nodiscard]] std::string to_json(const std::vector<ShardAnswer>& answers);

// The replicas that `shard` reckons with: those given with addresses, else cache-0 … as `up` has.
[[nodiscard]] Result<MembershipPointer> shard_membership(const Configuration& configuration);

// `ringside shard`. A line of stdin that can't be answered is told on stderr and left out; the
// Error comes after all others.
[[nodiscard]] Result<void> run_shard(const Configuration& configuration,
                                     const ShardOptions& options);

}  // namespace ringside::program
