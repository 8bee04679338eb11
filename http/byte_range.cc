#include "http/byte_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/limits.h"
#include "http/characters.h"
#include "http/fields.h"

namespace ringside::http {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view kUnit = "bytes";

// 1*DIGIT; kLargest for all that is larger.
std::optional<std::uint64_t> parse_number(std::string_view digits) noexcept {
  if (digits.empty()) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (!is_in(c, kDigitClass)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    number = number > (kLargest - digit) / 10 ? kLargest : number * 10 + digit;
  }
  return number;
}

// What follows the unit and `separator`; nullopt where they aren't there.
std::optional<std::string_view> after_unit(std::string_view value, char separator) noexcept {
  if (value.size() <= kUnit.size() || value[kUnit.size()] != separator ||
      !same_token(value.substr(0, kUnit.size()), kUnit)) {
    return std::nullopt;
  }
  return value.substr(kUnit.size() + 1);
}

// One of `a-b`, `a-`, `-n`; nullopt where it is none of them or b is before a.
std::optional<RangeSpec> parse_spec(std::string_view text) noexcept {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, dash);
  const std::string_view behind = text.substr(dash + 1);
  const RangeSpec spec{parse_number(before), parse_number(behind)};
  const bool well_formed = (spec.first || before.empty()) && (spec.last || behind.empty()) &&
                           (spec.first || spec.last) &&
                           !(spec.first && spec.last && *spec.last < *spec.first);
  return well_formed ? std::optional(spec) : std::nullopt;
}

std::optional<ByteSpan> resolve(const RangeSpec& spec, std::uint64_t length) noexcept {
  if (length == 0) return std::nullopt;
  const std::uint64_t end = length - 1;
  if (!spec.first) {
    const std::uint64_t size = std::min(spec.last.value_or(0), length);
    if (size == 0) return std::nullopt;
    return ByteSpan{length - size, end};
  }
  if (*spec.first > end) return std::nullopt;
  return ByteSpan{*spec.first, std::min(spec.last.value_or(end), end)};
}

// True where the two have a byte in common or nothing between them.
bool meet(const ByteSpan& a, const ByteSpan& b) noexcept {
  return a.first <= b.last + 1 && b.first <= a.last + 1;
}

// Adds a span to some of which no two meet, which stays so: what meets the sum of several has met
// one of them.
void join(std::vector<ByteSpan>& spans, ByteSpan added) {
  std::size_t place = spans.size();
  for (std::size_t i = spans.size(); i-- > 0;) {
    if (!meet(spans[i], added)) continue;
    added = {std::min(added.first, spans[i].first), std::max(added.last, spans[i].last)};
    spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(i));
    place = i;
  }
  spans.insert(spans.begin() + static_cast<std::ptrdiff_t>(place), added);
}

}  // namespace

std::optional<RangeSet> parse_range(std::string_view field_value) {
  const auto list = after_unit(field_value, '=');
  if (!list) return std::nullopt;
  RangeSet ranges;
  bool valid = true;
  for_each_member(*list, [&](std::string_view member) {
    const auto spec = parse_spec(member);
    valid = spec && ranges.specs.size() < limits::ranges_per_request;
    if (valid) ranges.specs.push_back(*spec);
    return valid;
  });
  if (!valid || ranges.specs.empty()) return std::nullopt;
  return ranges;
}

std::string range_text(const RangeSet& ranges) {
  std::string text(kUnit);
  char separator = '=';
  for (const RangeSpec& spec : ranges.specs) {
    text += separator;
    if (spec.first) text += fmt::to_string(*spec.first);
    text += '-';
    if (spec.last) text += fmt::to_string(*spec.last);
    separator = ',';
  }
  return text;
}

std::vector<ByteSpan> resolve(const RangeSet& ranges, std::uint64_t length) {
  std::vector<ByteSpan> spans;
  for (const RangeSpec& spec : ranges.specs) {
    if (const auto span = resolve(spec, length)) join(spans, *span);
  }
  return spans;
}

std::optional<ContentRange> parse_content_range(std::string_view field_value) {
  const auto range = after_unit(field_value, ' ');
  if (!range) return std::nullopt;
  const std::size_t slash = range->find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view positions = range->substr(0, slash);
  const std::string_view length = range->substr(slash + 1);
  ContentRange content;
  if (length != "*") {
    content.complete_length = parse_number(length);
    if (!content.complete_length || *content.complete_length == kLargest) return std::nullopt;
  }
  if (positions == "*") {
    return content.complete_length ? std::optional(content) : std::nullopt;
  }
  const auto spec = parse_spec(positions);
  if (!spec || !spec->first || !spec->last) return std::nullopt;
  content.span = ByteSpan{*spec->first, *spec->last};
  // Without a length the largest number stands for all larger ones, so it is none.
  if (*spec->last >= content.complete_length.value_or(kLargest)) return std::nullopt;
  return content;
}

std::string content_range_text(const ByteSpan& span, std::optional<std::uint64_t> complete_length) {
  return complete_length
             ? fmt::format("{} {}-{}/{}", kUnit, span.first, span.last, *complete_length)
             : fmt::format("{} {}-{}/*", kUnit, span.first, span.last);
}

std::string unsatisfied_range_text(std::uint64_t complete_length) {
  return fmt::format("{} */{}", kUnit, complete_length);
}

}  // namespace ringside::http
