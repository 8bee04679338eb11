#include "cache/request_context.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "cache/bucket_labels.h"
#include "cache/conditions.h"
#include "http/conditional.h"
#include "http/content_coding.h"
#include "http/internal_fields.h"

namespace ringside::cache {
namespace {

// nullopt: nobody says, or what is said is no bucket.
std::optional<shard::Bucket> bucket_in(std::string_view digits) noexcept {
  shard::Bucket bucket = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, bucket);
  const bool is_bucket =
      parsed.ec == std::errc{} && parsed.ptr == end && bucket < shard::bucket_count;
  return is_bucket ? std::optional(bucket) : std::nullopt;
}

IpAddress client_of(const http::Fields& fields, bool from_sidecar, const IpAddress& from) {
  if (!from_sidecar) return subscriber_of(from);
  const auto told = fields.first(http::internal::client);
  const auto address = told ? IpAddress::try_parse(*told) : std::nullopt;
  return address ? subscriber_of(*address) : IpAddress{};
}

// Of a stranger's request it was taken away.
std::optional<tier::PurgeNumber> purge_of(const http::RequestHead& request) {
  const bool may_have = request.method == "PURGE" || request.method == "OPTIONS";
  const auto said = may_have ? request.fields.first(http::internal::purge) : std::nullopt;
  const auto settled = request.fields.first(http::internal::purge_settled);
  return said ? tier::parse_purge_number(*said, settled.value_or("")) : std::nullopt;
}

// What Connection names is not passed on, so it must not tell variants apart either (RFC 9111
// §4.1). The fixed ones stay: they are about this connection, and left out where heads are written.
void remove_hop_by_hop(http::Fields& fields) {
  const http::HopByHop hop_by_hop(fields);
  for (const std::string_view name : hop_by_hop.named()) fields.remove(name);
}

// What the rules make of the fields that the client sent.
void apply(const Rules& rules, http::RequestHead& request) {
  if (!rules.content_codings.empty()) {
    const auto coding = http::content_coding_class(request.fields, rules.content_codings);
    request.fields.remove("accept-encoding");
    if (coding) request.fields.add("Accept-Encoding", *coding);
  }
  for (const std::string& name : rules.request_fields.remove) request.fields.remove(name);
  for (const auto& [name, value] : rules.request_fields.set) {
    request.fields.remove(name);
    request.fields.add(name, value);
  }
}

// The route, and the query as the rules of its URI's route have it.
Result<void> find_route(const http::RequestHead& request, const Settings& settings,
                        RequestContext& context) {
  const auto found = settings.route_table.find_canonical(context.host, context.target);
  if (!found) return found.error();
  const std::optional<http::UriRoute> of_uri = *found;
  if (!of_uri) return {};
  settings.routes[of_uri->index].rules.query.apply_to(context.target);
  const auto chosen = [&](std::string_view method) {
    return settings.route_table.choose(*of_uri, context.host, context.target, method,
                                       request.fields);
  };
  const std::optional<std::size_t> route = chosen(request.method);
  if (!route) return {};
  context.route = &settings.routes[*route];
  context.is_route_of_get = request.method != "POST" || chosen("GET") == route;
  return {};
}

// Why the store may not be asked (RFC 9111 §4).
StoreObjection objection_to_use(const http::RequestHead& request, bool bypass, bool upgrades) {
  if (request.method != "GET" && request.method != "HEAD") return StoreObjection::method;
  if (request.framing.kind != http::Framing::Kind::none) return StoreObjection::content;
  if (upgrades) return StoreObjection::upgrade;
  if (bypass) return StoreObjection::bypass_rule;
  if (http::has_origin_condition(request.fields)) return StoreObjection::condition;
  return StoreObjection::none;
}

// Why the answer to a request that the store may be asked for may not be stored (§3).
StoreObjection objection_to_fill(const http::RequestHead& request, bool no_store,
                                 const RequestContext& context) {
  if (request.method != "GET") return StoreObjection::method;
  if (context.directives.no_store) return StoreObjection::no_store;
  if (no_store) return StoreObjection::no_store_rule;
  if (!context.ranges) return StoreObjection::none;
  // Of several ranges nothing can be stored, and what If-Range decides is the origin's to say; but
  // the first slice tells as well.
  if (context.ranges->specs.size() != 1) return StoreObjection::ranges;
  const bool in_slices = context.route != nullptr && context.rules().slice_size_bytes > 0;
  const bool is_origins = !in_slices && request.fields.has("if-range");
  return is_origins ? StoreObjection::if_range : StoreObjection::none;
}

void look_at_store(const http::RequestHead& request, bool bypass, bool no_store,
                   RequestContext& context) {
  context.ranges.reset();
  context.objection = objection_to_use(request, bypass, context.hop.upgrades);
  context.may_use_store = context.objection == StoreObjection::none;
  context.may_keep_answer = !bypass && !no_store && !context.directives.no_store;
  context.may_fill_store = false;
  if (!context.may_use_store) return;
  if (request.method == "GET" && request.fields.has("range")) {
    context.ranges = http::parse_range(*request.fields.combined("range"));
  }
  context.objection = objection_to_fill(request, no_store, context);
  context.may_fill_store = context.objection == StoreObjection::none;
}

}  // namespace

std::string_view name_in_key(const Route* route) {
  return route == nullptr ? std::string_view{} : http::name_in_key(route->match, route->name);
}

namespace {

// Two that have other configurations for a while (internal::route): what one of them stored by its
// route is not the other's.
bool chooses_another(const http::RequestHead& request, std::string_view told,
                     const RequestContext& context) {
  return context.from_sidecar && request.method != "PURGE" && told != name_in_key(context.route);
}

struct Exclusions {
  bool bypass = false;
  bool no_store = false;
};

// By the rules of the route, which then change the fields of the request.
Exclusions exclusions_of(http::RequestHead& request, const RequestContext& context) {
  if (context.route == nullptr) return {};
  const Rules& rules = context.rules();
  const Exclusions out{matches_any(rules.bypass, request.fields, context.target.query),
                       matches_any(rules.no_store, request.fields, context.target.query) ||
                           !context.is_route_of_get};
  apply(rules, request);
  return out;
}

}  // namespace

Result<void> read_context(http::RequestHead& request, const Settings& settings,
                          std::string_view own_via, const IpAddress& from, RequestContext& context,
                          Keyspace keyspace) {
  context.method = request.method;
  context.route = nullptr;
  context.is_route_of_get = true;
  const auto topology = request.fields.first(http::internal::topology);
  context.from_sidecar = topology.has_value();
  const auto& membership = settings.membership;
  context.topology_is_other =
      topology && membership && membership->size() > 0 && *topology != membership->topology_id;
  context.fills_peer = context.from_sidecar && request.fields.has(http::internal::fill);
  context.purge = purge_of(request);
  context.client = client_of(request.fields, context.from_sidecar, from);
  auto hop = http::look_at_hop(request, own_via);
  if (!hop) return hop.error();
  context.hop = *hop;
  if (hop->answer_here) return {};
  if (auto parsed = http::normalise_target(request.target, context.target); !parsed) {
    return parsed.error();
  }
  if (auto parsed = http::normalise_host(request.host, context.host); !parsed) {
    return parsed.error();
  }
  const auto said = [&](std::string_view name) {
    return context.from_sidecar ? request.fields.first(name).value_or(std::string_view{})
                                : std::string_view{};
  };
  context.country = said(settings.country_header);
  context.time_allowed =
      std::min(settings.request_deadline,
               milliseconds_in(said(http::internal::deadline), Milliseconds::max()));
  context.authorized = request.fields.has("authorization");
  context.directives = http::parse_request_directives(request.fields);
  remove_hop_by_hop(request.fields);
  if (auto found = find_route(request, settings, context); !found) return found.error();
  const bool is_other_route = chooses_another(request, said(http::internal::route), context);
  if (is_other_route && context.fills_peer) {
    return Error{ErrorKind::internal, ErrorSource::ourselves, Retry::no,
                 "the replica that asks has another route for it"};
  }
  const Exclusions rules = exclusions_of(request, context);
  const bool is_https = said(http::internal::scheme) == name(http::Scheme::https);
  context.key.assign(is_https ? http::Scheme::https : http::Scheme::http, context.host,
                     context.target, said(http::internal::extra_key), keyspace,
                     name_in_key(context.route));
  context.key.bucket = bucket_by(membership ? membership->topology.get() : nullptr,
                                 context.key.text, bucket_in(said(http::internal::bucket)));
  look_at_store(request, rules.bypass || is_other_route, rules.no_store, context);
  // What is stored can be purged whether or not a route (still) leads there.
  if (context.route == nullptr && request.method != "PURGE") {
    return Error{ErrorKind::not_found, ErrorSource::ourselves, Retry::no,
                 "no route for " + context.host + context.target.path};
  }
  return {};
}

Milliseconds milliseconds_in(std::string_view digits, Milliseconds otherwise) noexcept {
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  const bool is_number = parsed.ec == std::errc{} && parsed.ptr == end && value >= 0;
  return is_number ? Milliseconds{value} : otherwise;
}

bool strip_internal(http::Fields& fields) {
  const bool like_sidecar = fields.has(http::internal::topology);
  std::vector<std::string_view> names;
  for (const http::Field& field : fields) {
    if (http::is_internal(field.name)) names.push_back(field.name);
  }
  for (const std::string_view name : names) fields.remove(name);
  return like_sidecar;
}

}  // namespace ringside::cache
