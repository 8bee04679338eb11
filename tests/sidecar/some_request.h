#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/address.h"
#include "http1/head_parser.h"
#include "shard/shard_key.h"
#include "shard/topology.h"
#include "sidecar/settings.h"
#include "sidecar/shard_decision.h"

namespace ringside::sidecar {

// A request head and the bytes into which it points.
class SomeRequest {
 public:
  explicit SomeRequest(std::string text) : text_(std::move(text)) {
    const auto parsed = http::parse_request_head(text_, http::HeadLimits::defaults(), head_);
    if (!parsed) ADD_FAILURE() << parsed.error().message << " in " << text_;
  }
  SomeRequest(const SomeRequest&) = delete;
  SomeRequest& operator=(const SomeRequest&) = delete;
  [[nodiscard]] http::RequestHead& operator*() noexcept { return head_; }
  [[nodiscard]] const http::RequestHead* operator->() const noexcept { return &head_; }

 private:
  std::string text_;
  http::RequestHead head_;
};

inline IpAddress address_of(std::string_view text) { return IpAddress::parse(text).value(); }

inline Route route_of(std::string name, std::string host, std::string path_prefix,
                      std::string_view key) {
  Route route;
  route.name = std::move(name);
  route.match = {std::move(host), std::move(path_prefix)};
  route.key = located(shard::KeySpec::parse(key).value(), route.match.path_prefix).value();
  return route;
}

// Makes the table anew: to be called last.
inline void complete(Settings& settings) {
  std::vector<http::RouteMatch> matches;
  for (const Route& route : settings.routes) matches.push_back(route.match);
  settings.route_table = http::RouteTable::make(matches).value();
}

// No members, and one route for everything by country and path.
inline Settings some_settings() {
  Settings settings;
  settings.routes = {route_of("all", "", "/", "country,path")};
  settings.membership = tier::make_membership({}, "ring", 1).value();
  complete(settings);
  return settings;
}

}  // namespace ringside::sidecar
