#include "cache/storability.h"

#include <algorithm>
#include <array>

namespace ringside::cache {
namespace {

bool varies_on_anything(const http::Fields& fields) noexcept {
  bool any = false;
  for (const http::Field& field : fields) {
    if (!http::same_token(field.name, "vary")) continue;
    http::for_each_member(field.value, [&](std::string_view member) { any |= member == "*"; });
  }
  return any;
}

// The final status codes of RFC 9110 §15 whose rules for caches we know and keep.
bool is_understood(int status) noexcept {
  constexpr std::array<int, 16> known = {200, 203, 204, 300, 301, 302, 303, 307,
                                         308, 404, 405, 410, 414, 421, 451, 501};
  return std::find(known.begin(), known.end(), status) != known.end();
}

}  // namespace

std::string_view name(Storability storability) noexcept {
  switch (storability) {
    case Storability::storable:
      return "storable";
    case Storability::method:
      return "method";
    case Storability::request_said:
      return "request-no-store";
    case Storability::no_store:
      return "no-store";
    case Storability::is_private:
      return "private";
    case Storability::authorization:
      return "authorization";
    case Storability::status:
      return "status";
    case Storability::vary_any:
      return "vary-any";
    case Storability::set_cookie:
      return "set-cookie";
    case Storability::no_lifetime:
      return "no-lifetime";
  }
  return "no-lifetime";
}

Storability storability(const StorabilityInput& input) noexcept {
  if (input.method != "GET") return Storability::method;
  if (input.asked.no_store) return Storability::request_said;
  // RFC 9111 §5.2.2.3: must-understand stands before no-store, which is for those who don't.
  const bool understood = input.directives.must_understand && is_understood(input.status);
  if (input.directives.must_understand && !understood) return Storability::status;
  if (input.directives.no_store && !understood) return Storability::no_store;
  if (input.directives.is_private) return Storability::is_private;
  if (input.status < 200 || input.status == 206 || input.status == 304) return Storability::status;
  const bool shared_allowed = input.directives.is_public || input.directives.must_revalidate ||
                              input.directives.s_maxage.has_value();
  if (input.authorized && !shared_allowed) return Storability::authorization;
  if (varies_on_anything(input.fields)) return Storability::vary_any;
  if (input.fields.has("set-cookie")) return Storability::set_cookie;
  const bool can_be_validated =
      input.status == 200 && (input.fields.has("etag") || input.fields.has("last-modified"));
  const bool lives = input.freshness.has_explicit_lifetime && !input.freshness.no_cache &&
                     input.freshness.lifetime > input.freshness.initial_age;
  if (!lives && !can_be_validated) return Storability::no_lifetime;
  return Storability::storable;
}

}  // namespace ringside::cache
