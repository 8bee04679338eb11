#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>

#include "http1/exchange.h"
#include "http1/head_parser.h"
#include "tests/http1/some_connection.h"

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
  ExchangeLimits far_limits() {
    return {Milliseconds{1'000}, Milliseconds{10'000}, clock_.steady_now() + Milliseconds{60'000}};
  }
  static OutgoingRequest outgoing(const RequestHead& request, Connection& client) {
    OutgoingRequest out;
    out.method = request.method;
    if (request.framing.kind != Framing::Kind::none) out.body = &client;
    out.expects_continue = request.expects_continue;
    if (request.framing.kind == Framing::Kind::chunked) out.body_coding = Coding::chunked;
    if (request.minor_version >= 1) out.interim_to = &client;
    return out;
  }
  static std::string head_of(const RequestHead& request) {
    std::string head(request.method);
    head += " / HTTP/1.1\r\nHost: a\r\n";
    for (const Field& field : request.fields) {
      if (field.name == "Host") continue;
      head.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    return head += "\r\n";
  }
  Task<void> ask(Exchange& exchange, const Endpoint& upstream, const OutgoingRequest& request) {
    shown_ = &exchange;
    const ExchangeLimits limits = far_limits();
    const auto answered = co_await exchange.ask(upstream, request, limits);
    shown_ = nullptr;
    if (!answered) {
      outcome_.error = answered.error();
      co_return;
    }
    outcome_.status = exchange.head().status;
    const auto body = co_await whole_body(exchange.connection());
    if (body) {
      outcome_.body = *body;
    } else {
      outcome_.error = body.error();
    }
    exchange.finish();
  }
  Task<void> serve(Connection& client, const Endpoint& upstream) {
    RequestHead request;
    const auto read = co_await client.read_request(HeadLimits::defaults(), request);
    EXPECT_TRUE(read);
    const std::string head = head_of(request);
    OutgoingRequest out = outgoing(request, client);
    out.head = head;
    Pool pool(core(), ErrorSource::origin);
    Exchange exchange(core(), pool);
    co_await ask(exchange, upstream, out);
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
