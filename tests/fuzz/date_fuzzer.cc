// A field value that should be a date.
#include "http/date.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {

void examine(std::string_view input) {
  const TimePoint now{Seconds{1'800'000'000}};
  const auto time = http::parse_date(input, now);
  if (!time) return;
  const auto text = http::format_date(*time);
  const auto again = http::parse_date({text.data(), text.size()}, now);
  RINGSIDE_CHECK(again == time);
}

}  // namespace ringside::fuzz
