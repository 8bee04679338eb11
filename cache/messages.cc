#include "cache/messages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/limits.h"
#include "http/byte_range.h"
#include "http/canonical_field.h"
#include "http/conditional.h"
#include "http/error_response.h"
#include "http/hop.h"
#include "http/internal_fields.h"
#include "http/targeted_cache_control.h"

namespace ringside::cache {
namespace {

bool is_rewritten(std::string_view name, const Settings& settings) noexcept {
  using http::same_token;
  return same_token(name, "host") || same_token(name, "content-length") ||
         same_token(name, "via") || same_token(name, "expect") ||
         same_token(name, settings.country_header);
}

// Origins that speak Surrogate-Control want to know whether anybody listens (W3C note "Edge
// Architecture Specification" §2.1). What those before us say follows.
void add_capability(http::FieldLines& out, const Rules& rules) {
  const bool heeded = std::any_of(
      rules.targeted.begin(), rules.targeted.end(),
      [](const std::string& name) { return http::same_token(name, "surrogate-control"); });
  if (heeded) {
    out.add("Surrogate-Capability", fmt::format("{}=\"Surrogate/1.0\"", http::kSurrogateDevice));
  }
}

void add_asking(http::FieldLines& out, const Asking& asking) {
  if (asking.validated != nullptr) {
    const http::Fields& fields = asking.validated->fields();
    if (const auto etag = fields.first("etag")) out.add("If-None-Match", *etag);
    if (const auto changed = fields.first("last-modified")) {
      out.add("If-Modified-Since", *changed);
    }
  }
  if (!asking.range.empty()) out.add("Range", asking.range);
  if (asking.same_as != nullptr) {
    const auto etag = asking.same_as->fields().first("etag");
    if (etag) out.add("If-Range", *etag);
  }
}

// Those of the fields that pass `wanted`, by the route's rules.
template <class Wanted>
void add_fields(http::FieldLines& out, const http::Fields& fields, const Rules& rules,
                const Wanted& wanted) {
  for (const http::Field& field : fields) {
    if (!rules.response_fields.replaces(field.name) && wanted(field.name)) {
      out.add(field.name, field.value);
    }
  }
  for (const auto& [name, value] : rules.response_fields.set) {
    if (wanted(name)) out.add(name, value);
  }
}

// What the request says, by the context and the way it is asked.
void add_request(http::FieldLines& out, const http::RequestHead& request,
                 const RequestContext& context, const Settings& settings, std::string_view own_via,
                 const Asking& asking) {
  const http::HopByHop hop_by_hop(request.fields);
  for (const http::Field& field : request.fields) {
    if (is_rewritten(field.name, settings) || http::is_internal(field.name) ||
        hop_by_hop.has(field.name) || (asking.fills && http::is_condition(field.name)) ||
        (context.hop.max_forwards && http::same_token(field.name, "max-forwards")) ||
        http::is_continued_line(request.fields, field)) {
      continue;
    }
    http::add_canonical(out, request.fields, field);
  }
  http::add_hop_fields(out, request, context.hop, own_via);
  if (!context.country.empty()) out.add(settings.country_header, context.country);
  add_asking(out, asking);
}

}  // namespace

void write_origin_fields(http::FieldLines& out, const http::RequestHead& request,
                         const RequestContext& context, const Settings& settings,
                         std::string_view own_via, const Asking& asking) {
  out.clear();
  if (context.route != nullptr) add_capability(out, context.rules());
  add_request(out, request, context, settings, own_via, asking);
}

void write_holder_fields(http::FieldLines& out, const http::RequestHead& request,
                         const RequestContext& context, const Settings& settings,
                         const FillAsking& fill, const Asking& asking) {
  namespace internal = http::internal;
  out.clear();
  add_request(out, request, context, settings, fill.own_via, asking);
  if (settings.membership) out.add(internal::topology, settings.membership->topology_id);
  for (const std::string_view name :
       {internal::extra_key, internal::bucket, internal::scheme, internal::client}) {
    if (const auto value = request.fields.first(name)) out.add(name, *value);
  }
  const auto route = name_in_key(context.route);
  if (!route.empty()) out.add(internal::route, route);
  out.add(internal::fill, fill.own_name);
  const Milliseconds share =
      std::max(fill.time_allowed - limits::replica_answer_allowance, fill.time_allowed / 2);
  out.add(internal::deadline, fmt::format_int(share.count()).c_str());
}

void begin_stored(http::Response& out, const std::shared_ptr<const StoredHead>& stored,
                  const Rules& rules) {
  out.begin(stored->status(), stored->reason());
  if (rules.response_fields.empty()) {
    out.owner = stored;
    out.shared_lines = stored->lines();
    out.shared_is_ready = stored->is_ready();
  } else {
    add_fields(out.fields, stored->fields(), rules, [](std::string_view) { return true; });
  }
}

void begin_partial(http::Response& out, const StoredHead& stored, const Rules& rules,
                   std::string_view content_range, std::string_view content_type) {
  out.begin(206, http::reason_of(206));
  add_fields(out.fields, stored.fields(), rules, [&](std::string_view name) {
    const bool said_anew = http::same_token(name, "content-range") ||
                           (!content_type.empty() && http::same_token(name, "content-type"));
    return !said_anew && !is_digest_of_content(name);
  });
  if (!content_type.empty()) out.fields.add("Content-Type", content_type);
  if (!content_range.empty()) out.fields.add("Content-Range", content_range);
}

void begin_not_modified(http::Response& out, const StoredHead& stored, const Rules& rules) {
  out.begin(304, http::reason_of(304));
  add_fields(out.fields, stored.fields(), rules, http::belongs_in_not_modified);
}

void begin_forwarded(http::Response& out, const http::ResponseHead& response, const Rules& rules,
                     TimePoint now, std::string_view own_name) {
  out.begin(response.status, response.reason);
  out.length_is_known = http::length_is_known(response.framing);
  const http::HopByHop hop_by_hop(response.fields);
  add_fields(out.fields, response.fields, rules, [&](std::string_view name) {
    const bool is_length = http::same_token(name, "content-length");
    return !http::is_internal(name) && !hop_by_hop.has(name) &&
           (!is_length || http::may_have_length(response.status));
  });
  http::add_date_if_absent(out.fields, response.fields, now);
  out.fields.add("Via", http::via_member(response.minor_version, own_name));
}

void begin_unsatisfiable(http::Response& out, std::uint64_t complete_length_bytes, TimePoint now) {
  out.begin(416, http::reason_of(416));
  http::add_date(out.fields, now);
  out.fields.add("Content-Range", http::unsatisfied_range_text(complete_length_bytes));
}

std::string lines_not_stored(const http::Fields& fields, const std::vector<std::string>& names,
                             const Rules& rules) {
  const http::HopByHop hop_by_hop(fields);
  http::FieldLines lines;
  for (const http::Field& field : fields) {
    const auto is_named = [&](const std::string& name) {
      return http::same_token(name, field.name);
    };
    if (std::none_of(names.begin(), names.end(), is_named) || http::is_internal(field.name) ||
        hop_by_hop.has(field.name) || http::same_token(field.name, "age") ||
        rules.response_fields.replaces(field.name)) {
      continue;
    }
    lines.add(field.name, field.value);
  }
  return std::string(lines.text());
}

void make_purge_response(http::Response& out, std::size_t removed, TimePoint now,
                         std::span<const std::string> missing) {
  const int status = missing.empty() ? 200 : 502;
  std::string text = fmt::format("purged {} stored responses\n", removed);
  if (!missing.empty()) {
    text += fmt::format("incomplete, not confirmed by {}\n", fmt::join(missing, "; "));
  }
  out.begin(status, http::reason_of(status));
  out.fields.add("Content-Type", "text/plain; charset=utf-8");
  out.fields.add("Content-Length", fmt::to_string(text.size()));
  http::add_date(out.fields, now);
  out.fields.add(http::internal::purged, fmt::to_string(removed));
  out.body = http::Body(std::move(text));
}

void end_response(http::Response& out, const ResponseNotes& notes) {
  http::FieldLines& fields = out.fields;
  fields.append(notes.own_lines);
  if (notes.age) fields.add("Age", fmt::format_int(notes.age->count()).c_str());
  if (notes.length_bytes) {
    fields.add("Content-Length", fmt::format_int(*notes.length_bytes).c_str());
  }
  if (notes.to_peer) {
    fields.add(http::internal::age_beyond, fmt::format_int(notes.age_beyond.count()).c_str());
    fields.add(http::internal::purges_done, notes.purges_done);
    if (notes.is_asker_unknown) fields.add(http::internal::unknown_asker, "1");
  } else {
    http::add_cache_status(fields, notes.status);
  }
  if (notes.to_impostor) fields.add(http::internal::unproven, "1");
  if (!notes.topology.empty()) fields.add(http::internal::topology, notes.topology);
  if (notes.to_sidecar) {
    fields.add(http::internal::outcome, metrics::name(notes.outcome));
    if (notes.near_ttl) {
      fields.add(http::internal::near_ttl, fmt::format_int(notes.near_ttl->count()).c_str());
    }
  }
}

}  // namespace ringside::cache
