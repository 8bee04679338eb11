#include "replay/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/limits.h"
#include "http/structured_field.h"

namespace ringside::replay {
namespace {

using http::structured::Integer;
using http::structured::Item;
using http::structured::List;
using http::structured::String;
using http::structured::Token;
using metrics::Outcome;

// The value of a member's parameter; nullptr where it has none of that key and type.
template <class Value>
const Value* parameter(const Item& member, std::string_view key) {
  const auto* value = http::structured::parameter(member, key);
  return value == nullptr ? nullptr : std::get_if<Value>(value);
}

bool is_set(const Item& member, std::string_view key) {
  const auto* value = parameter<bool>(member, key);
  return value != nullptr && *value;
}

// The members of a field whose members are all Items; none where it is no List of those.
std::vector<Item> items_of(std::string_view field) {
  std::vector<Item> out;
  for (auto& member : http::structured::parse_list(field).value_or(List())) {
    auto* item = std::get_if<Item>(&member);
    if (item == nullptr) return {};
    out.push_back(std::move(*item));
  }
  return out;
}

Outcome outcome_of(const Item& member) {
  if (is_set(member, "hit")) {
    // A stored response that was not fresh any more has a negative ttl (RFC 9211 §2.4).
    const auto* ttl = parameter<Integer>(member, "ttl");
    return ttl != nullptr && *ttl < 0 ? Outcome::stale : Outcome::hit;
  }
  if (is_set(member, "collapsed")) return Outcome::collapsed;
  const auto* detail = parameter<Token>(member, "detail");
  if (detail != nullptr && detail->text == "peer-fill") return Outcome::peer_fill;
  const auto* forward = parameter<Token>(member, "fwd");
  if (forward == nullptr) return Outcome::miss;
  const auto* status = parameter<Integer>(member, "fwd-status");
  const bool is_unmodified = status != nullptr && *status == 304;
  if (forward->text == "stale" && is_unmodified) return Outcome::revalidated;
  return forward->text == "bypass" || forward->text == "method" ? Outcome::bypass : Outcome::miss;
}

}  // namespace

std::optional<ServedBy> parse_served_by(std::string_view cache_status) {
  const auto members = items_of(cache_status);
  if (members.empty()) return std::nullopt;
  ServedBy out;
  if (const auto* token = std::get_if<Token>(&members.front().value)) {
    out.cache = token->text;
  } else if (const auto* string = std::get_if<String>(&members.front().value)) {
    out.cache = unescaped(*string);
  } else {
    return std::nullopt;
  }
  // A cache nearer to us that had it answers with what the replica once said, and adds its own hit.
  const bool is_near_hit = std::any_of(members.begin() + 1, members.end(),
                                       [](const Item& member) { return is_set(member, "hit"); });
  out.outcome = is_near_hit ? Outcome::hit : outcome_of(members.front());
  return out;
}

bool is_tier_error(int status, const std::optional<ServedBy>& served,
                   std::string_view proxy_status) {
  // What the sidecar refuses because of the request itself is no error of a proxy (RFC 9209 §2.3).
  constexpr std::array refusals{400, 413, 414, 431, 501, 505};
  const bool by_sidecar = served && served->cache == "ringside";
  if (by_sidecar && std::find(refusals.begin(), refusals.end(), status) != refusals.end()) {
    return true;
  }
  const auto members = items_of(proxy_status);
  return std::any_of(members.begin(), members.end(), [](const Item& member) {
    return http::structured::parameter(member, "error") != nullptr;
  });
}

std::string tier_error_text(int status, std::string_view proxy_status) {
  for (const Item& member : items_of(proxy_status)) {
    const auto* error = parameter<Token>(member, "error");
    if (error == nullptr) continue;
    const auto* details = parameter<String>(member, "details");
    return details == nullptr ? fmt::format("{} {}", status, error->text)
                              : fmt::format("{} {} ({})", status, error->text, unescaped(*details));
  }
  return fmt::format("{}, refused by the sidecar", status);
}

void Journal::count_error(const std::string& text) {
  const bool is_new = !errors.contains(text) && errors.size() >= limits::replay_caches;
  ++errors[is_new ? "others" : text];
}

}  // namespace ringside::replay
