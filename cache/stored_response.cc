#include "cache/stored_response.h"

#include <algorithm>
#include <array>

#include "cache/storability.h"
#include "http/hop.h"
#include "http/vary.h"

namespace ringside::cache {
namespace {

bool is_left_out(std::string_view name) noexcept {
  using http::same_token;
  return http::is_internal(name) || same_token(name, "age") || same_token(name, "content-length");
}

bool is_among(const std::vector<std::string>& names, std::string_view name) noexcept {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& withheld) { return http::same_token(withheld, name); });
}

// What a 304 may not change of the stored response (RFC 9111 §3.2): what describes the bytes that
// we keep, above all how they are coded and what their digest is.
bool is_kept_from_304(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> kept = {
      "content-encoding", "content-range", "content-length", "content-md5",
      "content-digest",   "repr-digest",   "digest"};
  return std::any_of(kept.begin(), kept.end(),
                     [&](std::string_view kept_name) { return http::same_token(kept_name, name); });
}

}  // namespace

bool is_digest_of_content(std::string_view field_name) noexcept {
  return http::same_token(field_name, "content-digest") ||
         http::same_token(field_name, "content-md5");
}

StoredHead::StoredHead(int status, const Freshness& freshness, std::vector<std::string> vary,
                       std::string variant)
    : status_(status),
      freshness_(freshness),
      vary_(std::move(vary)),
      variant_(std::move(variant)) {}

StoredHead::StoredHead(const http::ResponseHead& response, Making making)
    : StoredHead(response.status == 206 ? 200 : response.status, making.freshness,
                 std::move(making.vary), std::move(making.variant)) {
  reason_ = response.status == 206 ? "OK" : response.reason;
  http::FieldLines lines;
  const http::HopByHop hop_by_hop(response.fields);
  for (const http::Field& field : response.fields) {
    const bool of_the_part =
        response.status == 206 &&
        (http::same_token(field.name, "content-range") || is_digest_of_content(field.name));
    if (is_left_out(field.name) || of_the_part || hop_by_hop.has(field.name) ||
        is_among(making.withheld, field.name)) {
      continue;
    }
    lines.add(field.name, field.value);
  }
  lines.add("Via", http::via_member(response.minor_version, making.own_name));
  http::add_date_if_absent(lines, response.fields,
                           making.received.value_or(making.freshness.received));
  keep(lines.text());
}

std::shared_ptr<const StoredHead> StoredHead::updated(const StoredHead& stored,
                                                      const http::Fields& fields,
                                                      const http::Fields& request,
                                                      const ExchangeTimes& times,
                                                      const Rules& rules) {
  const std::shared_ptr<StoredHead> head(
      new StoredHead(stored.status_, {}, stored.vary_, stored.variant_));
  head->reason_ = stored.reason_;
  const http::HopByHop hop_by_hop(fields);
  const auto replaces = [&](std::string_view name) {
    return !is_left_out(name) && !is_kept_from_304(name) && !http::same_token(name, "via") &&
           !hop_by_hop.has(name);
  };
  http::Fields merged;
  for (const http::Field& field : stored.fields_) {
    // A Date of before would make the response as old as it was.
    const bool said_anew = fields.has(field.name) || http::same_token(field.name, "date");
    if (!(replaces(field.name) && said_anew)) merged.add(field.name, field.value);
  }
  for (const http::Field& field : fields) {
    if (replaces(field.name)) merged.add(field.name, field.value);
  }
  // Whether the 304 or the stored response says so: it goes for what either has.
  const auto withheld = fields_not_stored(effective_directives(merged, rules), rules);
  http::FieldLines lines;
  for (const http::Field& field : merged) {
    if (!is_among(withheld, field.name)) lines.add(field.name, field.value);
  }
  http::add_date_if_absent(lines, fields, times.received);
  head->vary_ = http::vary_names(merged);
  head->keep(lines.text());
  if (head->vary_ != stored.vary_) head->variant_ = http::variant_key(head->vary_, request);

  for (const http::Field& field : fields) {
    if (http::same_token(field.name, "age")) merged.add(field.name, field.value);
  }
  if (!fields.has("date")) merged.add("Date", *head->fields_.first("date"));
  head->freshness_ =
      freshness_of({stored.status_, merged, effective_directives(merged, rules), times, rules});
  return head;
}

std::shared_ptr<const StoredHead> StoredHead::restored(Kept kept) {
  const std::shared_ptr<StoredHead> head(
      new StoredHead(kept.status, kept.freshness, std::move(kept.vary), std::move(kept.variant)));
  head->reason_ = std::move(kept.reason);
  head->keep(kept.lines);
  return head;
}

void StoredHead::keep(std::string_view lines) {
  lines_ = lines;
  fields_ = http::fields_of(lines_);
  is_ready_ = !fields_.has("cache-status") && !fields_.has("proxy-status");
  shows_vary_ = http::vary_names(fields_) == vary_;
}

std::size_t StoredHead::cost_bytes() const noexcept {
  std::size_t bytes = sizeof(StoredHead) + reason_.capacity() + lines_.capacity() +
                      variant_.capacity() + fields_.size() * 2 * sizeof(http::Field) + 64;
  for (const std::string& name : vary_) bytes += sizeof(std::string) + name.capacity();
  return bytes;
}

std::size_t StoredResponse::cost_bytes() const noexcept {
  std::size_t bytes = sizeof(StoredResponse) + sizeof(Body) + 64 + head->cost_bytes();
  for (const PiecePointer& piece : body->pieces) {
    if (!piece->is_counted()) bytes += piece->cost_bytes();
  }
  return bytes;
}

}  // namespace ringside::cache
