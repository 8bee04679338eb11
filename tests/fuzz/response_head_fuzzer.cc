// The first byte chooses limits and the request's method; then what an origin sends.
#include "http1/head_parser.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/head_rules.h"

namespace ringside::fuzz {
namespace {

using http::Framing;
using http::ResponseHead;

void check_accepted(std::string_view bytes, const ResponseHead& head, std::string_view method,
                    const http::HeadLimits& limits) {
  RINGSIDE_CHECK(head.status >= 100 && head.status <= 599);
  RINGSIDE_CHECK(head.minor_version == 0 || head.minor_version == 1);
  RINGSIDE_CHECK(all_in(head.reason, http::kValueClass));
  check_fields(bytes, head.fields, limits);
  const bool has_no_body =
      head.status < 200 || head.status == 204 || head.status == 304 || method == "HEAD";
  if (has_no_body) {
    RINGSIDE_CHECK(head.framing.kind == Framing::Kind::none);
    return;
  }
  RINGSIDE_CHECK(head.framing.kind != Framing::Kind::none);
  if (head.framing.kind == Framing::Kind::until_close) RINGSIDE_CHECK(!head.keep_alive);
  check_framing(head.fields, head.framing, head.minor_version);
}

// What we understood, written down again, is understood in the same way.
void check_written_again(const ResponseHead& head, std::string_view method) {
  std::string text = "HTTP/1." + std::to_string(head.minor_version);
  text.append(" ").append(std::to_string(head.status)).append(" ").append(head.reason);
  text.append("\r\n");
  append_fields(text, head.fields);
  const http::HeadLimits ample{text.size() + 1, text.size(), head.fields.size()};
  const auto end = http::find_head_end(text, 0, ample, ErrorSource::origin);
  RINGSIDE_CHECK(end && *end == text.size());
  ResponseHead again;
  RINGSIDE_CHECK(http::parse_response_head(text, ample, method, ErrorSource::origin, again));
  RINGSIDE_CHECK(again.status == head.status && again.reason == head.reason);
  RINGSIDE_CHECK(again.minor_version == head.minor_version);
  RINGSIDE_CHECK(again.keep_alive == head.keep_alive);
  check_same_fields(again.fields, head.fields);
  check_same_framing(again.framing, head.framing);
}

}  // namespace

void examine(std::string_view input) {
  const std::string_view choice = take(input, 1);
  const http::HeadLimits limits = choice == "n" ? narrow_limits : http::HeadLimits::defaults();
  const std::string_view method = choice == "h" ? "HEAD" : "GET";
  const auto size = find_head_in_any_cut(input, limits, ErrorSource::origin);
  if (!size) return;
  const std::string_view bytes = input.substr(0, *size);
  ResponseHead head;
  const auto parsed = http::parse_response_head(bytes, limits, method, ErrorSource::origin, head);
  if (!parsed) {
    RINGSIDE_CHECK(parsed.error().source == ErrorSource::origin);
    check_message(parsed.error());
    return;
  }
  check_accepted(bytes, head, method, limits);
  check_written_again(head, method);
}

}  // namespace ringside::fuzz
