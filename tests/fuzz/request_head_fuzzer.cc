// The first byte chooses the limits; then what a client sends.
#include "http/target.h"
#include "http1/head_parser.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/head_rules.h"

namespace ringside::fuzz {
namespace {

using http::RequestHead;

void check_accepted(std::string_view bytes, const RequestHead& head,
                    const http::HeadLimits& limits) {
  RINGSIDE_CHECK(http::is_token(head.method));
  RINGSIDE_CHECK(!head.target.empty() && all_in(head.target, http::kVisibleClass));
  RINGSIDE_CHECK(head.minor_version == 0 || head.minor_version == 1);
  RINGSIDE_CHECK(head.host.empty() ? head.minor_version == 0
                                   : http::split_host(head.host).has_value());
  RINGSIDE_CHECK(head.fields.count("Host") <= 1);
  RINGSIDE_CHECK(head.framing.kind != http::Framing::Kind::until_close);
  check_fields(bytes, head.fields, limits);
  check_framing(head.fields, head.framing, head.minor_version);
}

// What we understood, written down again, is understood in the same way.
void check_written_again(const RequestHead& head) {
  std::string text;
  text.append(head.method).append(" ").append(head.target).append(" HTTP/1.");
  text.append(std::to_string(head.minor_version)).append("\r\n");
  append_fields(text, head.fields);
  // The space after each colon may have been absent.
  const http::HeadLimits ample{text.size() + 1, text.size(), head.fields.size()};
  const auto end = http::find_head_end(text, 0, ample, ErrorSource::client);
  RINGSIDE_CHECK(end && *end == text.size());
  RequestHead again;
  RINGSIDE_CHECK(http::parse_request_head(text, ample, again));
  RINGSIDE_CHECK(again.method == head.method && again.target == head.target);
  RINGSIDE_CHECK(again.host == head.host && again.minor_version == head.minor_version);
  RINGSIDE_CHECK(again.keep_alive == head.keep_alive);
  RINGSIDE_CHECK(again.expects_continue == head.expects_continue);
  check_same_fields(again.fields, head.fields);
  check_same_framing(again.framing, head.framing);
}

}  // namespace

void examine(std::string_view input) {
  const std::string_view choice = take(input, 1);
  const http::HeadLimits limits = choice == "n" ? narrow_limits : http::HeadLimits::defaults();
  const auto size = find_head_in_any_cut(input, limits, ErrorSource::client);
  if (!size) return;
  const std::string_view bytes = input.substr(0, *size);
  RequestHead head;
  if (const auto parsed = http::parse_request_head(bytes, limits, head); !parsed) {
    RINGSIDE_CHECK(parsed.error().source == ErrorSource::client);
    check_message(parsed.error());
    return;
  }
  check_accepted(bytes, head, limits);
  check_written_again(head);
}

}  // namespace ringside::fuzz
