// The first line is the length of an object; then a value of Range or of Content-Range.
#include <algorithm>
#include <charconv>

#include "base/limits.h"
#include "http/byte_range.h"
#include "http/multipart_ranges.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using http::ByteSpan;
using http::RangeSpec;

std::uint64_t length_of(std::string_view line) {
  std::uint64_t length = 0;
  std::from_chars(line.data(), line.data() + line.size(), length);
  return length;
}

// Whether a range asks for the byte at `position`, as the text of RFC 9110 §14.1.2 has it.
bool asks_for(const RangeSpec& spec, std::uint64_t position, std::uint64_t length) {
  if (position >= length) return false;
  if (!spec.first) return length - position <= *spec.last;
  return position >= *spec.first && (!spec.last || position <= *spec.last);
}

// The spans hold the bytes that were asked for and no others: looked at where either could end.
void check_bytes(const http::RangeSet& ranges, const std::vector<ByteSpan>& spans,
                 std::uint64_t length) {
  std::vector<std::uint64_t> places{0, length - 1};
  const auto look_around = [&](std::uint64_t place) {
    for (const std::uint64_t near : {place - 1, place, place + 1}) places.push_back(near);
  };
  for (const ByteSpan& span : spans) {
    look_around(span.first);
    look_around(span.last);
  }
  for (const RangeSpec& spec : ranges.specs) {
    if (spec.first) look_around(*spec.first);
    if (spec.last) look_around(spec.first ? *spec.last : length - *spec.last);
  }
  for (const std::uint64_t place : places) {
    const bool asked =
        std::any_of(ranges.specs.begin(), ranges.specs.end(),
                    [&](const RangeSpec& spec) { return asks_for(spec, place, length); });
    const auto times = std::count_if(spans.begin(), spans.end(), [&](const ByteSpan& span) {
      return span.first <= place && place <= span.last;
    });
    RINGSIDE_CHECK(times == (asked ? 1 : 0));
  }
}

void check_spans(const std::vector<ByteSpan>& spans, std::uint64_t length) {
  std::uint64_t left = length;
  for (const ByteSpan& span : spans) {
    RINGSIDE_CHECK(span.first <= span.last && span.last < length);
    RINGSIDE_CHECK(span.size() <= left);
    left -= span.size();
    http::ContentRange content{span, length};
    RINGSIDE_CHECK(length == UINT64_MAX ||
                   http::parse_content_range(http::content_range_text(span, length)) == content);
    content.complete_length.reset();
    RINGSIDE_CHECK(http::parse_content_range(http::content_range_text(span, {})) == content);
  }
}

void check_framing(const std::vector<ByteSpan>& spans, std::uint64_t length) {
  const auto framed = http::frame_ranges(spans, length, "a/b", http::multipart_boundary(length));
  std::uint64_t left = framed.length_bytes - framed.closing.size();
  RINGSIDE_CHECK(framed.parts.size() == spans.size());
  for (const auto& part : framed.parts) left -= part.head.size() + part.span.size();
  RINGSIDE_CHECK(left == 0);
}

void check_range(std::string_view value, std::uint64_t length) {
  const auto ranges = http::parse_range(value);
  if (!ranges) return;
  RINGSIDE_CHECK(!ranges->specs.empty() && ranges->specs.size() <= limits::ranges_per_request);
  RINGSIDE_CHECK(http::parse_range(http::range_text(*ranges)) == ranges);
  const auto spans = http::resolve(*ranges, length);
  RINGSIDE_CHECK(spans.size() <= ranges->specs.size());
  check_spans(spans, length);
  if (length > 0) check_bytes(*ranges, spans, length);
  if (!spans.empty()) check_framing(spans, length);
}

void check_content_range(std::string_view value) {
  const auto content = http::parse_content_range(value);
  if (!content) return;
  RINGSIDE_CHECK(content->span || content->complete_length);
  if (content->span) {
    RINGSIDE_CHECK(content->span->first <= content->span->last);
    RINGSIDE_CHECK(content->span->last < content->complete_length.value_or(UINT64_MAX));
  }
  const std::string text = content->span
                               ? http::content_range_text(*content->span, content->complete_length)
                               : http::unsatisfied_range_text(*content->complete_length);
  RINGSIDE_CHECK(http::parse_content_range(text) == content);
}

}  // namespace

void examine(std::string_view input) {
  const std::uint64_t length = length_of(take(input, input.find('\n')));
  take(input, 1);
  check_range(input, length);
  check_content_range(input);
}

}  // namespace ringside::fuzz
