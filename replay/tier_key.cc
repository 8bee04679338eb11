#include "replay/tier_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace ringside::replay {
namespace {

// The key of one route, `country,path`.
TierKey key_of(std::string_view text) {
  TierKey key{false, false, std::string(text), {}};
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    key.has_country = key.has_country || part == "country";
    key.has_address = key.has_address || part == "ip";
    if (part.starts_with("header:") || part.starts_with("cookie:")) {
      key.unknown =
          fmt::format("the shard key {} has {}, which a log does not tell", key.text, part);
    }
  }
  return key;
}

std::string text_in(const nlohmann::json& route, const char* name) {
  const auto found = route.find(name);
  return found != route.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<TierKey> tier_key_from(std::string_view config) {
  const auto page = parse_strict_json(config);
  if (!page || !page->is_object() || !page->contains("routes") || !(*page)["routes"].is_array() ||
      (*page)["routes"].empty()) {
    return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
                 "the tier's /config has no routes"};
  }
  TierKey of_tier;
  bool is_first = true;
  for (const auto& route : (*page)["routes"]) {
    const std::string text = route.is_object() ? text_in(route, "shard_key") : std::string();
    TierKey key = key_of(text);
    if (text.empty()) key.unknown = "what answers at --admin has no shard key: it is no sidecar";
    if (route.is_object() && (route.contains("key_fallback") ||
                              (route.contains("cache") && route["cache"].contains("query")))) {
      key.unknown = fmt::format("route {} makes one request of several (query, key_fallback)",
                                text_in(route, "name"));
    }
    const bool differs = !is_first && (key.has_country != of_tier.has_country ||
                                       key.has_address != of_tier.has_address);
    if (differs) key.unknown = "its routes have different shard keys";
    if (is_first || !key.unknown.empty()) of_tier = std::move(key);
    if (!of_tier.unknown.empty()) break;
    is_first = false;
  }
  return of_tier;
}

}  // namespace ringside::replay
