#include "program/cache_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/quotation.h"
#include "program/rule_reading.h"
#include "program/rule_values.h"
#include "program/values.h"
#include "sidecar/nearby.h"

namespace ringside::program {
namespace {

using nlohmann::ordered_json;
using Entry = YamlValue::Entry;

// One key: how its value is read, goes from one set of rules to another, and is shown.
struct RuleKey {
  std::string_view name;
  bool for_sidecar = false;
  Result<void> (*read)(cache::Rules& rules, const YamlFile& file, const Entry& entry) = nullptr;
  void (*copy)(const cache::Rules& from, cache::Rules& to) = nullptr;
  ordered_json (*show)(const cache::Rules& rules) = nullptr;  // null where it is the default
};

template <auto field, auto read, auto show>
constexpr RuleKey rule(std::string_view name, bool for_sidecar = false) {
  return {name, for_sidecar,
          [](cache::Rules& rules, const YamlFile& file, const Entry& entry) -> Result<void> {
            auto value = read(file, entry);
            if (!value) return value.error();
            rules.*field = *std::move(value);
            return {};
          },
          [](const cache::Rules& from, cache::Rules& to) { to.*field = from.*field; },
          [](const cache::Rules& rules) {
            const bool usual = rules.*field == cache::Rules().*field;
            return usual ? ordered_json() : ordered_json(show(rules.*field));
          }};
}

template <class T>
const T& as_it_is(const T& value) noexcept {
  return value;
}
constexpr auto& plain_switch = as_it_is<bool>;
constexpr auto& plain_number = as_it_is<unsigned>;
constexpr auto& plain_size = as_it_is<std::size_t>;
constexpr auto& plain_list = as_it_is<std::vector<std::string>>;

// `ignore_origin` is asked for where `heed_origin` is meant.
Result<bool> read_opposite(const YamlFile& file, const Entry& entry) {
  const auto value = read_switch(file, entry);
  if (!value) return value.error();
  return !*value;
}

bool opposite(bool value) noexcept { return !value; }

ordered_json show_ttl(const std::optional<Seconds>& ttl) {
  return ttl ? ordered_json(ttl_text(*ttl)) : ordered_json();
}

ordered_json show_ttls(const std::vector<cache::StatusTtl>& ttls) {
  auto out = ordered_json::object();
  for (const cache::StatusTtl& one : ttls) out[statuses_text(one)] = ttl_text(one.ttl);
  return out;
}

ordered_json show_conditions(const std::vector<cache::Condition>& conditions) {
  auto out = ordered_json::array();
  for (const cache::Condition& one : conditions) out.push_back(condition_text(one));
  return out;
}

ordered_json show_query(const http::QueryRules& rules) {
  return {{"sort", rules.sort}, {"keep", rules.keep}, {"drop", rules.drop}};
}

ordered_json show_paths(const http::PathRules& rules) {
  auto out = ordered_json::object();
  if (rules.merge_slashes) out["merge_slashes"] = *rules.merge_slashes;
  if (rules.refuses_escaped_slashes) {
    out["escaped_slashes"] = refusal_text(*rules.refuses_escaped_slashes);
  }
  if (rules.refuses_parameters) out["path_parameters"] = refusal_text(*rules.refuses_parameters);
  return out;
}

ordered_json show_fields(const http::FieldRules& rules) {
  auto set = ordered_json::object();
  for (const auto& [name, value] : rules.set) set[name] = value;
  return {{"set", std::move(set)}, {"remove", rules.remove}};
}

using R = cache::Rules;

constexpr auto rule_keys = std::to_array<RuleKey>({
    rule<&R::ttl_by_status, read_ttl_by_status, show_ttls>("ttl_by_status"),
    rule<&R::default_ttl, read_ttl, show_ttl>("default_ttl"),
    rule<&R::heuristic, read_switch, plain_switch>("heuristic"),
    rule<&R::heed_origin, read_opposite, opposite>("ignore_origin"),
    rule<&R::stale_while_revalidate, read_ttl, show_ttl>("stale_while_revalidate"),
    rule<&R::stale_if_error, read_ttl, show_ttl>("stale_if_error"),
    rule<&R::early_refresh_percent, read_percent, plain_number>("early_refresh_percent"),
    rule<&R::targeted, read_targeted, plain_list>("targeted"),
    rule<&R::invalid_age, read_invalid_age, invalid_age_text>("invalid_age"),
    rule<&R::set_cookie, read_set_cookie, set_cookie_text>("set_cookie"),
    rule<&R::client_no_cache, read_client_no_cache, client_no_cache_text>("client_no_cache"),
    rule<&R::bypass, read_conditions, show_conditions>("bypass"),
    rule<&R::no_store, read_conditions, show_conditions>("no_store"),
    rule<&R::variants_most, read_variants_most, plain_size>("variants_most"),
    rule<&R::content_codings, read_content_codings, plain_list>("content_codings"),
    rule<&R::query, read_query, show_query>("query", true),
    rule<&R::paths, read_paths, show_paths>("paths", true),
    rule<&R::request_fields, read_request_fields, show_fields>("request_headers"),
    rule<&R::response_fields, read_response_fields, show_fields>("response_headers"),
    rule<&R::status_key, read_switch, plain_switch>("cache_status_key"),
    rule<&R::slice_size_bytes, read_slice, size_text>("slice"),
});

const RuleKey* find_key(std::string_view name) noexcept {
  const auto* const found = std::find_if(rule_keys.begin(), rule_keys.end(),
                                         [&](const RuleKey& key) { return key.name == name; });
  return found == rule_keys.end() ? nullptr : found;
}

Error conflict(const CacheRules& rules, std::string_view key, const RouteFacts& route,
               std::string_view message) {
  return invalid_input(fmt::format("{}: of route {}: {}", rules.place(key), route.name, message));
}

// The near cache is asked by host, target and key alone; it keeps away from requests that have one
// of some fields.
bool passes_near_cache(const cache::Condition& condition) {
  using In = cache::Condition::In;
  if (condition.in == In::query || condition.in == In::every_request) return false;
  const bool cookie = condition.in == In::cookie;
  http::RequestHead request;
  request.method = "GET";
  request.fields.add(cookie ? "cookie" : std::string_view(condition.name), "");
  return sidecar::may_be_answered_nearby(request);
}

// The first hop applies the query rules, so the next ones don't see what they take away.
Result<void> check_query_is_seen(const CacheRules& rules, std::string_view key,
                                 const std::vector<cache::Condition>& conditions,
                                 const RouteFacts& route) {
  const auto unseen =
      std::find_if(conditions.begin(), conditions.end(), [&](const cache::Condition& condition) {
        return condition.in == cache::Condition::In::query &&
               rules.values.query.applied(condition.name).empty();
      });
  if (unseen == conditions.end()) return {};
  return conflict(rules, key, route,
                  fmt::format("query takes {} away before anybody looks at it; keep it there, or "
                              "take the condition out",
                              quotation(unseen->name)));
}

Result<void> check_changed_fields(const CacheRules& rules, const RouteFacts& route) {
  if (!rules.values.request_fields.replaces(route.country_header)) return {};
  return conflict(rules, "request_headers", route,
                  fmt::format("{} tells the origin the country; take it out, or choose another "
                              "country_header",
                              quotation(route.country_header)));
}

}  // namespace

std::string CacheRules::place(std::string_view key) const {
  const auto found = places.find(key);
  return found == places.end() ? std::string(key) : found->second;
}

std::vector<std::string_view> cache_rule_keys() {
  std::vector<std::string_view> names;
  names.reserve(rule_keys.size());
  for (const RuleKey& key : rule_keys) names.push_back(key.name);
  return names;
}

Result<CacheRules> read_cache_rules(const YamlFile& file, const YamlValue::Entry& entry) {
  if (entry.value.kind != YamlValue::Kind::map) {
    return file.wrong(entry.line, fmt::format("cache is {}; write a map, such as {{default_ttl: "
                                              "1m}}",
                                              program::name(entry.value.kind)));
  }
  CacheRules rules;
  for (const Entry& line : entry.value.entries) {
    const RuleKey* const key = find_key(line.key);
    if (key == nullptr) return file.unknown_key(line, "of cache", cache_rule_keys());
    if (auto read = key->read(rules.values, file, line); !read) return read.error();
    rules.places.emplace(key->name, fmt::format("{}: {}", file.place(line.line), key->name));
  }
  return rules;
}

CacheRules merged(const CacheRules& for_all, const CacheRules& of_route) {
  CacheRules out = for_all;
  for (const auto& [name, place] : of_route.places) {
    find_key(name)->copy(of_route.values, out.values);
    out.places.insert_or_assign(name, place);
  }
  return out;
}

nlohmann::ordered_json to_json(const cache::Rules& rules, RulesOf whose) {
  auto out = ordered_json::object();
  for (const RuleKey& key : rule_keys) {
    if (whose == RulesOf::sidecar && !key.for_sidecar) continue;
    if (auto value = key.show(rules); !value.is_null())
      out[std::string(key.name)] = std::move(value);
  }
  return out;
}

Result<void> check_cache_rules(const CacheRules& rules, const RouteFacts& route) {
  const cache::Rules& values = rules.values;
  if (!values.heed_origin && values.ttl_by_status.empty() && !values.default_ttl) {
    return conflict(rules, "ignore_origin", route,
                    "nothing says how long responses are fresh; give default_ttl or ttl_by_status "
                    "too");
  }
  const auto seen_late =
      std::find_if(values.bypass.begin(), values.bypass.end(), passes_near_cache);
  if (route.has_near_cache && seen_late != values.bypass.end()) {
    return conflict(rules, "bypass", route,
                    fmt::format("the near cache answers without looking at {}; take it or near_ttl "
                                "out",
                                quotation(condition_text(*seen_late))));
  }
  auto seen = check_query_is_seen(rules, "bypass", values.bypass, route);
  if (seen) seen = check_query_is_seen(rules, "no_store", values.no_store, route);
  return seen ? check_changed_fields(rules, route) : seen;
}

}  // namespace ringside::program
