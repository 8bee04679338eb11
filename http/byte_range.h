#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::http {

// Positions of an object's bytes, both ends included: first <= last, and last is below 2^64 - 1, so
// that every size can be told.
struct ByteSpan {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  [[nodiscard]] std::uint64_t size() const noexcept { return last - first + 1; }
  bool operator==(const ByteSpan&) const = default;
};

// One member of a Range field (RFC 9110 §14.1.1): `a-b`, `a-` where there is no last, `-n` where
// there is no first: then `last` is how many bytes at the end are meant.
struct RangeSpec {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last;

  bool operator==(const RangeSpec&) const = default;
};

// What a Range field asks for, in its order; what it means depends on the object's length.
struct RangeSet {
  std::vector<RangeSpec> specs;

  bool operator==(const RangeSet&) const = default;
};

// The value of Range (all lines of it combined). nullopt, and the field is to be ignored (RFC 9110
// §14.2): a malformed one, `b` before `a` in any member, a unit that is not `bytes`, and more
// members than limits::ranges_per_request. Numbers too large for 64 bits count as the largest: they
// lie beyond the end of every object.
[[nodiscard]] std::optional<RangeSet> parse_range(std::string_view field_value);

// The same set as text, one spelling for each: parse_range gives the set back. The order stays, for
// it decides the order of the answer.
[[nodiscard]] std::string range_text(const RangeSet& ranges);

// Those of the ranges that an object of that length has (RFC 9110 §14.1.2), cut at its end. Empty:
// none can be satisfied, which is what 416 is for.
//
// Ranges that overlap or touch become one (§15.3.7.2 allows it), at the place of the first of them;
// the others stay in the order of the request. So no byte is sent twice and all spans together are
// no longer than the object, whatever is asked for: without that a small request for the same bytes
// over and over costs many times the object (§17.15).
[[nodiscard]] std::vector<ByteSpan> resolve(const RangeSet& ranges, std::uint64_t length);

// A Content-Range field (RFC 9110 §14.4). `bytes a-b/length`; without complete_length
// `bytes a-b/*`; without span `bytes */length`, as 416 says it.
struct ContentRange {
  std::optional<ByteSpan> span;
  std::optional<std::uint64_t> complete_length;

  bool operator==(const ContentRange&) const = default;
};

// nullopt for a malformed or invalid one (a last before the first or not below the length), another
// unit, and numbers beyond 64 bits: nothing may be made of such a partial response.
[[nodiscard]] std::optional<ContentRange> parse_content_range(std::string_view field_value);

// Values of Content-Range: of a 206 or one of its parts, and of a 416.
[[nodiscard]] std::string content_range_text(const ByteSpan& span,
                                             std::optional<std::uint64_t> complete_length);
[[nodiscard]] std::string unsatisfied_range_text(std::uint64_t complete_length);

}  // namespace ringside::http
