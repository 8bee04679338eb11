#include "cache/inquiry.h"

#include <algorithm>
#include <charconv>

#include "http/internal_fields.h"

namespace ringside::cache {
namespace {

Milliseconds milliseconds(std::string_view digits, Milliseconds otherwise) noexcept {
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  const bool is_number = parsed.ec == std::errc{} && parsed.ptr == end && value >= 0;
  return is_number ? Milliseconds{value} : otherwise;
}

}  // namespace

Result<void> inquire(const http::RequestHead& request, const Settings& settings,
                     std::string_view own_via, Inquiry& inquiry) {
  inquiry.method = request.method;
  inquiry.from_sidecar = request.fields.has(http::internal::topology);
  auto hop = http::look_at_hop(request, own_via);
  if (!hop) return hop.error();
  inquiry.hop = *hop;
  if (hop->answer_here) return {};
  if (auto parsed = http::normalise_target(request.target, inquiry.target); !parsed) {
    return parsed.error();
  }
  if (auto parsed = http::normalise_host(request.host, inquiry.host); !parsed) {
    return parsed.error();
  }
  const auto said = [&](std::string_view name) {
    return inquiry.from_sidecar ? request.fields.first(name).value_or(std::string_view{})
                                : std::string_view{};
  };
  inquiry.country = said(settings.country_header);
  inquiry.time_allowed = std::min(
      settings.request_deadline, milliseconds(said(http::internal::deadline), Milliseconds::max()));
  inquiry.key.assign(inquiry.host, inquiry.target, said(http::internal::extra_key));
  inquiry.directives = http::parse_request_directives(request.fields);

  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool whole = request.framing.kind == http::Framing::Kind::none && !inquiry.hop.upgrades;
  inquiry.may_use_store = reads && whole;
  // A range is not stored yet, and asking for the whole in its place could be far more than was
  // wanted.
  inquiry.may_fill_store = request.method == "GET" && whole && !inquiry.directives.no_store &&
                           !request.fields.has("range");

  const auto route = settings.route_table.find(inquiry.host, inquiry.target.path);
  inquiry.route = route ? &settings.routes[*route] : nullptr;
  // What is stored can be purged whether or not a route (still) leads there.
  if (!route && request.method != "PURGE") {
    return Error{ErrorKind::not_found, ErrorSource::ourselves, Retry::no,
                 "no route for " + inquiry.host + inquiry.target.path};
  }
  return {};
}

}  // namespace ringside::cache
