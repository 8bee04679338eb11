#pragma once

#include <string>
#include <string_view>

#include "hop/upstream.h"
#include "http/body.h"
#include "http1/exchange.h"

namespace ringside::http {

inline const Target some_target{"/", {}, false};

// `METHOD /` of the host `a`, without content.
inline hop::UpstreamRequest some_request(std::string_view method) {
  hop::UpstreamRequest request;
  request.method = method;
  request.target = &some_target;
  request.host = "a";
  return request;
}

// Pulls the rest of a body.
inline Task<Result<std::string>> whole_body(BodySource& source) {
  std::string body;
  while (true) {
    const auto pulled = co_await source.pull();
    if (!pulled) co_return pulled.error();
    for (const std::string_view piece : pulled->pieces) body += piece;
    if (pulled->last) co_return body;
  }
}

}  // namespace ringside::http
