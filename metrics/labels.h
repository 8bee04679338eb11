#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "metrics/outcome.h"

namespace ringside::metrics {

enum class Kind : std::uint8_t { counter, gauge, histogram };
enum class Role : std::uint8_t { sidecar, cache };

// How a request to an origin ended: an HTTP status class, or no answer.
enum class OriginAnswer : std::uint8_t { status_2xx, status_3xx, status_4xx, status_5xx, failed };
inline constexpr std::size_t origin_answer_count = 5;
// Of a final status.
[[nodiscard]] constexpr OriginAnswer origin_answer(int status) noexcept {
  if (status < 300) return OriginAnswer::status_2xx;
  if (status < 400) return OriginAnswer::status_3xx;
  return status < 500 ? OriginAnswer::status_4xx : OriginAnswer::status_5xx;
}

// How a sidecar's probe of a replica ended.
enum class ProbeAnswer : std::uint8_t { answered, failed };
inline constexpr std::size_t probe_answer_count = 2;

// How a replica's question to the holder of a bucket ended: with an answer; it had nothing stored
// of the bucket, and gave it; it did not have the authority; it did not answer; nobody was asked,
// since not all peers had said what they hold.
enum class HolderAnswer : std::uint8_t { answered, gave, refused, failed, unknown };
inline constexpr std::size_t holder_answer_count = 5;

// Whose doing an error was and what it was; of origins that were followed by another try, why they
// failed is not kept.
inline constexpr std::size_t error_source_count = 4;
inline constexpr std::size_t error_kind_count = static_cast<std::size_t>(ErrorKind::internal) + 1;
enum class ErrorCause : std::uint8_t { failed_over = error_source_count * error_kind_count };
inline constexpr std::size_t error_cause_count =
    static_cast<std::size_t>(ErrorCause::failed_over) + 1;
[[nodiscard]] constexpr ErrorCause error_cause(ErrorSource source, ErrorKind kind) noexcept {
  return static_cast<ErrorCause>(static_cast<std::size_t>(source) * error_kind_count +
                                 static_cast<std::size_t>(kind));
}

// AA … ZZ; whatever is not two upper-case letters is ZZ.
enum class Country : std::uint16_t { unknown = 26 * 26 - 1 };
inline constexpr std::size_t country_count = 26 * 26;
[[nodiscard]] constexpr Country country_from(std::string_view code) noexcept {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (code.size() != 2 || !is_upper(code[0]) || !is_upper(code[1])) return Country::unknown;
  return static_cast<Country>((code[0] - 'A') * 26 + (code[1] - 'A'));
}

// Upper bounds of a histogram's buckets, 50 µs … 10 s; one more bucket has none. Behind the buckets
// of a histogram stands the sum of its durations.
inline constexpr std::array<std::uint64_t, 17> duration_bounds_us = {
    50,     100,     250,     500,     1'000,     2'500,     5'000,     10'000,    25'000,
    50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000};
inline constexpr std::size_t duration_bucket_count = duration_bounds_us.size() + 1;
enum class Bucket : std::uint8_t { sum_us = duration_bucket_count };
// The first one whose upper bound is not below the duration.
[[nodiscard]] Bucket bucket_of(std::uint64_t duration_us) noexcept;

// What a family's series differ by.
enum class Label : std::uint8_t {
  none,
  role,
  own_shard,  // shard: the component's own name
  result,     // an Outcome
  country,
  answer,  // an OriginAnswer
  probe,   // result: a ProbeAnswer
  holder,  // result: a HolderAnswer
  error,   // source and kind: an ErrorCause
  bucket,  // of a histogram
  // What is counted for each name of a sheet:
  shard,        // the name
  replica,      // likewise, but for the sheet's own, which is no replica
  any_replica,  // no label: how many replicas have any
};

// Those that are exposed as `shard`.
[[nodiscard]] constexpr bool is_shard(Label label) noexcept {
  return label == Label::own_shard || label == Label::shard || label == Label::replica;
}

// How many values a series is counted for; 1 where it is said by whom or for whom it is counted.
[[nodiscard]] constexpr std::size_t values_of(Label label) noexcept {
  switch (label) {
    case Label::result:
      return outcome_count;
    case Label::country:
      return country_count;
    case Label::answer:
      return origin_answer_count;
    case Label::probe:
      return probe_answer_count;
    case Label::holder:
      return holder_answer_count;
    case Label::error:
      return error_cause_count;
    case Label::bucket:
      return duration_bucket_count + 1;
    default:
      return 1;
  }
}

// Adds what a series says of one of the values of a label, where that is all it says.
using LabelValues = std::vector<std::pair<std::string, std::string>>;  // name, value
void append(LabelValues& out, Label label, std::size_t value);

// The label that values of a type are of.
template <class Value>
inline constexpr Label label_of = Label::none;
template <>
inline constexpr Label label_of<Outcome> = Label::result;
template <>
inline constexpr Label label_of<Country> = Label::country;
template <>
inline constexpr Label label_of<OriginAnswer> = Label::answer;
template <>
inline constexpr Label label_of<ProbeAnswer> = Label::probe;
template <>
inline constexpr Label label_of<HolderAnswer> = Label::holder;
template <>
inline constexpr Label label_of<ErrorCause> = Label::error;
template <>
inline constexpr Label label_of<Bucket> = Label::bucket;

}  // namespace ringside::metrics
