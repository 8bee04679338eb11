#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/settings.h"
#include "geo/country_database.h"
#include "sidecar/settings.h"

// docs/decisions/canonical-request.md: what is keyed is what is forwarded.
namespace ringside::keys {

// The fields by which all answers of the origin vary.
[[nodiscard]] const std::vector<std::string>& vary();

// What became of a request on its way through both halves.
struct Passed {
  std::string key;        // all by which its answer is told from others; see `vary`
  std::string shard_key;  // by which its replica was chosen
  std::size_t route = 0;  // whose rules were followed
  std::size_t sidecars_route = 0;
  bool may_share = false;  // its answer may come from the store, or go there
  std::string origin_head;
};

// A sidecar and a replica with the same routes, without anything between them but heads: the
// functions that decide what is keyed and what is forwarded, all of them and no others. Clients of
// 10.0.0.0/8 are trusted proxies.
class Chain {
 public:
  Chain();

  // nullopt: refused. `text` is the head of a request, which may be no such thing.
  [[nodiscard]] std::optional<Passed> pass(const std::string& text, std::string_view client);
  [[nodiscard]] const http::RouteTable& routes() const noexcept { return sidecar_.route_table; }
  [[nodiscard]] const std::string& path_of(std::size_t route) const;

 private:
  sidecar::Settings sidecar_;
  cache::Settings cache_;
  geo::CountryMemo countries_;
};

}  // namespace ringside::keys
