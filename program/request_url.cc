#include "program/request_url.h"

#include <fmt/format.h>

#include "shard/quotation.h"

namespace ringside::program {

Result<RequestUrl> parse_request_url(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return invalid_input(
        fmt::format("{} {}; write http://HOST[:PORT]/PATH or /PATH", shard::quotation(text), why));
  };
  RequestUrl url;
  // A fragment is the client's own affair and never part of a request (RFC 9110 §4.2.5).
  const std::string_view asked = text.substr(0, text.find('#'));
  if (const auto parts = http::split_absolute(asked)) {
    if (!http::normalise_host(parts->authority, url.host)) return wrong("has no valid host");
  } else if (asked.empty() || asked.front() != '/') {
    return wrong("is no URL");
  }
  if (auto normalised = http::normalise_target(asked, url.target); !normalised) {
    return wrong("has a part that no request may have");
  }
  return url;
}

}  // namespace ringside::program
