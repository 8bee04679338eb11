#include "metrics/labels.h"

#include <algorithm>

namespace ringside::metrics {
namespace {

constexpr std::array<std::string_view, origin_answer_count> answer_names = {"2xx", "3xx", "4xx",
                                                                            "5xx", "failed"};
constexpr std::array<std::string_view, probe_answer_count> probe_names = {"answered", "failed"};
constexpr std::array<std::string_view, holder_answer_count> holder_names = {
    "answered", "gave", "refused", "failed", "unknown"};

void append_error(LabelValues& out, std::size_t cause) {
  const bool failed_over = cause == static_cast<std::size_t>(ErrorCause::failed_over);
  const auto source =
      failed_over ? ErrorSource::origin : static_cast<ErrorSource>(cause / error_kind_count);
  const auto kind = static_cast<ErrorKind>(cause % error_kind_count);
  out.emplace_back("source", ringside::name(source));
  out.emplace_back("kind", failed_over ? "failed_over" : ringside::name(kind));
}

}  // namespace

Bucket bucket_of(std::uint64_t duration_us) noexcept {
  const auto bound =
      std::lower_bound(duration_bounds_us.begin(), duration_bounds_us.end(), duration_us);
  return static_cast<Bucket>(bound - duration_bounds_us.begin());
}

void append(LabelValues& out, Label label, std::size_t value) {
  switch (label) {
    case Label::result:
      out.emplace_back("result", name(static_cast<Outcome>(value)));
      return;
    case Label::country:
      out.emplace_back("country", std::string{static_cast<char>('A' + value / 26),
                                              static_cast<char>('A' + value % 26)});
      return;
    case Label::answer:
      out.emplace_back("answer", answer_names[value]);
      return;
    case Label::probe:
      out.emplace_back("result", probe_names[value]);
      break;
    case Label::holder:
      out.emplace_back("result", holder_names[value]);
      return;
    case Label::error:
      append_error(out, value);
      return;
    default:
      return;
  }
}

}  // namespace ringside::metrics
