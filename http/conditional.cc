#include "http/conditional.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/limits.h"
#include "http/characters.h"
#include "http/date.h"

namespace ringside::http {
namespace {

using Value = std::optional<std::string_view>;

// The value of a field that stands there exactly once. Of several none is to be trusted.
Value sole(const Fields& fields, std::string_view field_name) noexcept {
  return fields.count(field_name) == 1 ? fields.first(field_name) : std::nullopt;
}

// A well-formed entity tag that is not marked as weak (RFC 9110 §8.8.3).
bool is_strong_tag(std::string_view tag) noexcept {
  if (tag.size() < 2 || tag.front() != '"' || tag.back() != '"') return false;
  const std::string_view opaque = tag.substr(1, tag.size() - 2);
  return std::all_of(opaque.begin(), opaque.end(),
                     [](char c) { return c != '"' && is_in(c, kVisibleClass); });
}

bool has_strong_tag(const Fields& fields, std::string_view tag) noexcept {
  return is_strong_tag(tag) && sole(fields, "etag") == tag;
}

std::optional<TimePoint> date_of(const Value& value, TimePoint now) noexcept {
  return value ? parse_date(*value, now) : std::nullopt;
}

// The stored Last-Modified where it is a strong validator. RFC 9110 §8.8.2.2 wants at least a
// second between it and Date, and more where the two may be of different clocks, which a cache
// can't know: a minute is what its predecessors named.
std::optional<TimePoint> strong_modification(const Fields& stored, TimePoint now) noexcept {
  const auto changed = date_of(sole(stored, "last-modified"), now);
  const auto date = date_of(sole(stored, "date"), now);
  return changed && date && *date - *changed >= limits::strong_modification_age ? changed
                                                                                : std::nullopt;
}

bool same_modification(const Value& a, const Value& b, TimePoint now) noexcept {
  if (!a || !b) return false;
  const auto time = date_of(a, now);
  return *a == *b || (time && time == date_of(b, now));
}

// Where the field was received, the stored one has the same value.
bool agrees(const Fields& stored, const Fields& received, std::string_view field_name) noexcept {
  const auto value = received.first(field_name);
  return !value || value == stored.first(field_name);
}

bool agrees_on_length(const Fields& received, std::uint64_t length_bytes) noexcept {
  const auto value = received.first("content-length");
  if (!value) return true;
  std::uint64_t said = 0;
  const char* const end = value->data() + value->size();
  const auto parsed = std::from_chars(value->data(), end, said);
  return parsed.ec == std::errc{} && parsed.ptr == end && said == length_bytes;
}

}  // namespace

bool same_entity(std::string_view a, std::string_view b) noexcept {
  if (a.starts_with("W/")) a.remove_prefix(2);
  if (b.starts_with("W/")) b.remove_prefix(2);
  return !a.empty() && a == b;
}

bool is_not_modified(const Fields& request, const Fields& stored, TimePoint now) noexcept {
  if (request.has("if-none-match")) {
    const auto etag = stored.first("etag");
    bool matches = false;
    for (const Field& field : request) {
      if (!same_token(field.name, "if-none-match")) continue;
      const auto compare = [&](std::string_view member) {
        matches = matches || member == "*" || (etag && same_entity(member, *etag));
      };
      for_each_member(field.value, compare, Quoted::entity_tags);
    }
    return matches;
  }
  // One with several members is ignored (RFC 9110 §13.1.3).
  const auto since = date_of(sole(request, "if-modified-since"), now);
  if (!since) return false;
  // §4.3.2: without Last-Modified the stored Date stands in for it.
  auto changed_field = stored.first("last-modified");
  if (!changed_field) changed_field = stored.first("date");
  const auto changed = date_of(changed_field, now);
  return changed && *changed <= *since;
}

bool range_applies(const Fields& request, const Fields& stored, TimePoint now) noexcept {
  if (!request.has("if-range")) return true;
  const auto condition = sole(request, "if-range");
  if (!condition) return false;
  if (has_strong_tag(stored, *condition)) return true;
  // A tag, of which a strong one has matched above, is no date.
  const auto time = parse_date(*condition, now);
  return time && time == strong_modification(stored, now);
}

bool has_origin_condition(const Fields& request) noexcept {
  return request.has("if-match") || request.has("if-unmodified-since");
}

bool belongs_in_not_modified(std::string_view field_name) noexcept {
  const bool describes_content =
      field_name.size() > 8 && same_token(field_name.substr(0, 8), "content-");
  return !describes_content || same_token(field_name, "content-location");
}

bool is_condition(std::string_view field_name) noexcept {
  constexpr std::array<std::string_view, 6> names = {
      "if-none-match", "if-modified-since", "if-match", "if-range", "if-unmodified-since", "range"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view condition) { return same_token(condition, field_name); });
}

bool same_strong_validator(const Fields& a, const Fields& b) noexcept {
  const auto tag = sole(a, "etag");
  return tag && has_strong_tag(b, *tag);
}

bool confirms(const Fields& stored, const Fields& received, TimePoint now) noexcept {
  const auto our_tag = stored.first("etag");
  const auto their_tag = received.first("etag");
  const auto their_change = received.first("last-modified");
  const bool same_change = same_modification(stored.first("last-modified"), their_change, now);
  if (!their_tag) return !their_change || same_change;
  if (!is_strong_tag(*their_tag)) {
    return our_tag ? same_entity(*our_tag, *their_tag) : same_change;
  }
  if (our_tag && is_strong_tag(*our_tag)) return *our_tag == *their_tag;
  // The other strong validator that both may have. Origins that compress on the way out mark the
  // tag of a 200 as weak and don't touch that of a 304.
  return (!our_tag || same_entity(*our_tag, *their_tag)) && same_change &&
         strong_modification(stored, now).has_value();
}

HeadFinding head_finding(const GetResponse& stored, int status, const Fields& received) noexcept {
  if (status != 200) return HeadFinding::nothing;
  const bool whole_or_part = stored.status == 200 || stored.status == 206;
  const bool same = whole_or_part && agrees(stored.fields, received, "etag") &&
                    agrees(stored.fields, received, "last-modified") &&
                    agrees_on_length(received, stored.length_bytes);
  return same ? HeadFinding::updates : HeadFinding::invalidates;
}

}  // namespace ringside::http
