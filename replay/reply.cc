#include "replay/reply.h"

#include <algorithm>
#include <array>

#include "replay/structured_list.h"

namespace ringside::replay {
namespace {

using metrics::Outcome;

Outcome outcome_of(const ListMember& member) {
  if (member.is_set("hit")) {
    // A stored response that was not fresh any more has a negative ttl (RFC 9211 §2.4).
    const auto ttl = member.parameter("ttl");
    return ttl && ttl->starts_with('-') ? Outcome::stale : Outcome::hit;
  }
  if (member.is_set("collapsed")) return Outcome::collapsed;
  const auto forward = member.parameter("fwd");
  if (forward == "stale" && member.parameter("fwd-status") == "304") return Outcome::revalidated;
  if (forward == "bypass" || forward == "method") return Outcome::bypass;
  return Outcome::miss;
}

}  // namespace

std::optional<ServedBy> parse_served_by(std::string_view cache_status) {
  const auto members = parse_structured_list(cache_status);
  if (!members || members->empty()) return std::nullopt;
  // A cache nearer to us that had it answers with what the replica once said, and adds its own hit.
  const bool is_near_hit =
      std::any_of(members->begin() + 1, members->end(),
                  [](const ListMember& member) { return member.is_set("hit"); });
  return ServedBy{members->front().item, is_near_hit ? Outcome::hit : outcome_of(members->front())};
}

bool is_tier_error(int status, const std::optional<ServedBy>& served,
                   std::string_view proxy_status) {
  // What the sidecar refuses because of the request itself is no error of a proxy (RFC 9209 §2.3).
  constexpr std::array refusals{400, 413, 414, 431, 501, 505};
  const bool by_sidecar = served && served->cache == "ringside";
  if (by_sidecar && std::find(refusals.begin(), refusals.end(), status) != refusals.end()) {
    return true;
  }
  const auto members = parse_structured_list(proxy_status);
  return members && std::any_of(members->begin(), members->end(), [](const ListMember& member) {
           return member.parameter("error").has_value();
         });
}

}  // namespace ringside::replay
