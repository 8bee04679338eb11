#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>

#include "http/field_lines.h"
#include "http1/client_caller.h"
#include "http1/exchange.h"
#include "http1/head_parser.h"
#include "tests/http1/some_connection.h"
#include "tests/http1/some_exchange.h"

namespace ringside::http {

inline constexpr std::string_view expecting = "Expect: 100-continue\r\nContent-Length: 5\r\n";
inline constexpr std::string_view five_bytes = "Content-Length: 5\r\n";
inline constexpr std::string_view continue_head = "HTTP/1.1 100 Continue\r\n\r\n";
inline constexpr std::string_view refusal =
    "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno";

// What became of one request.
struct UploadOutcome {
  int status = 0;
  std::string body;
  std::optional<Error> error;
  bool pooled = false;  // the connection can be used again
};

// One client's request with a body, asked of one upstream, as both hops do it.
class UploadTest : public OneCore {
 protected:
  hop::UpstreamLimits far_limits() {
    return {Milliseconds{1'000}, Milliseconds{10'000}, clock_.steady_now() + Milliseconds{60'000}};
  }
  static std::string fields_of(const RequestHead& request) {
    FieldLines fields;
    for (const Field& field : request.fields) {
      const bool is_the_codecs =
          same_token(field.name, "host") || same_token(field.name, "content-length") ||
          same_token(field.name, "transfer-encoding") || same_token(field.name, "expect");
      if (!is_the_codecs) fields.add(field.name, field.value);
    }
    return std::string(fields.text());
  }
  Task<void> ask(Exchange& exchange, const Endpoint& upstream,
                 const hop::UpstreamRequest& request) {
    shown_ = &exchange;
    const hop::UpstreamLimits limits = far_limits();
    const auto answered = co_await exchange.ask(upstream, request, limits);
    shown_ = nullptr;
    if (!answered) {
      outcome_.error = answered.error();
      co_return;
    }
    outcome_.status = exchange.head().status;
    const auto body = co_await whole_body(exchange);
    if (body) {
      outcome_.body = *body;
    } else {
      outcome_.error = body.error();
    }
  }
  Task<void> serve(Connection& client, const Endpoint& upstream) {
    RequestHead request;
    const auto read = co_await client.read_request(HeadLimits::defaults(), request);
    EXPECT_TRUE(read);
    const std::string method(request.method);
    const std::string fields = fields_of(request);
    ClientCaller caller(client);
    hop::UpstreamRequest out = hop::passed_on(request, false, method, caller);
    out.target = &some_target;
    out.host = "a";
    out.fields = fields;
    Pool pool(core(), ErrorSource::origin);
    {
      Exchange exchange(core(), pool);
      co_await ask(exchange, upstream, out);
    }
    outcome_.pooled = pool.take_idle(upstream, false).has_value();
  }
  // The client says `lines` of a request, and is then the test's to go on with.
  [[nodiscard]] std::future<void> start(const support::ScriptedPeer& upstream,
                                        std::string_view lines,
                                        std::string_view start_line = "PUT / HTTP/1.1\r\n") {
    outcome_ = {};
    const Endpoint address = upstream.address();
    auto end =
        start_with(ErrorSource::client, client_,
                   [this, address](Connection& connection, support::RawSocket&) -> Task<void> {
                     co_await serve(connection, address);
                   });
    std::string head(start_line);
    client_.send(head.append("Host: a\r\n").append(lines).append("\r\n"));
    return end;
  }
  std::string client_reads(std::size_t bytes) {
    std::string got;
    while (got.size() < bytes && !client_.receive(got)) {
    }
    return got;
  }
  // All that the client was told once the other side has ended.
  std::string client_reads_all() {
    std::string got;
    while (!client_.receive(got)) {
    }
    return got;
  }

  support::RawSocket client_;
  UploadOutcome outcome_;
  std::atomic<Exchange*> shown_{nullptr};
};

}  // namespace ringside::http
