#include "sidecar/messages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "http1/head_parser.h"
#include "http1/head_text.h"
#include "sidecar/purge.h"
#include "tests/sidecar/some_request.h"

namespace ringside::sidecar {
namespace {

// Nothing is pulled from it.
class NoCaller final : public http::Caller {
 public:
  [[nodiscard]] const IpAddress& address() const noexcept override { return address_; }
  void interrupt() noexcept override {}
  [[nodiscard]] Task<Result<void>> tell(const http::ResponseHead&, Milliseconds) override {
    co_return Result<void>();
  }
  void give_up() noexcept override {}
  [[nodiscard]] std::optional<Result<http::Pulled>> take() override { return std::nullopt; }
  [[nodiscard]] Task<Result<http::Pulled>> pull() override { co_return http::Pulled{{}, true}; }

 private:
  IpAddress address_;
};

class UpstreamHead : public ::testing::Test {
 protected:
  // The head that goes upstream for that of a client.
  std::string written(const std::string& head, Upstream upstream = Upstream::replica,
                      std::string_view peer = "203.0.113.9") {
    complete(settings_);
    SomeRequest request(head);
    geo::CountryMemo countries;
    Decision decision;
    const auto decided =
        decide(*request, address_of(peer), settings_, own_via, countries, decision);
    if (!decided) return decided.error().message;
    http::FieldLines fields;
    fields.add("what", "was there before");
    write_upstream_fields(fields, *request, decision, settings_, own_via, upstream);
    NoCaller caller;
    auto outgoing = hop::passed_on(*request, decision.hop.upgrades, decision.method, caller);
    outgoing.target = &decision.target;
    outgoing.host = decision.host;
    outgoing.fields = fields.text();
    std::string out;
    http::append_request_head(out, outgoing);
    return out;
  }
  // Only the lines between Host and Via of a GET with these field lines.
  std::string passed_on(const std::string& field_lines) {
    const auto out = written("GET / HTTP/1.1\r\nHost: a.test\r\n" + field_lines + "\r\n");
    const std::string_view host = "Host: a.test\r\n";
    const auto from = out.find(host) + host.size();
    return out.substr(from, out.find("Via: ") - from);
  }
  [[nodiscard]] std::string topology_line() const {
    return "Ringside-Topology: " + settings_.membership->topology_id + "\r\n";
  }
  static constexpr std::string_view own_via = "ringside (1a2b)";
  Settings settings_ = some_settings();
};

TEST_F(UpstreamHead, IsWrittenWhole) {
  const std::string request =
      "GET http://A.Test:80/x/../b%7e?q=%7e HTTP/1.1\r\nHost: A.Test:80\r\nAccept: */*\r\n"
      "Cookie: a=1\r\nAccept: text/html\r\n\r\n";
  const std::string common =
      "GET /b~?q=%7E HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nCookie: a=1\r\n"
      "Accept: text/html\r\nVia: 1.1 ringside (1a2b)\r\nForwarded: for=203.0.113.9;proto=http\r\n"
      "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http\r\nX-Country: ZZ\r\n";
  const auto to_replica = written(request);
  // The bucket of the shard key's hash.
  const auto bucket = std::to_string(shard::bucket_of(hash64("ZZ\n/b~\n")));
  EXPECT_EQ(to_replica, common + topology_line() + "Ringside-Bucket: " + bucket +
                            "\r\nRingside-Client: 203.0.113.9\r\n"
                            "Ringside-Extra-Key: country=ZZ&\r\n\r\n");
  EXPECT_EQ(written(request, Upstream::origin), common + "\r\n");
}

TEST_F(UpstreamHead, TheEmptyQueryStays) {
  EXPECT_TRUE(written("GET /a? HTTP/1.1\r\nHost: a.test\r\n\r\n").starts_with("GET /a? HTTP"));
  EXPECT_TRUE(written("GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n").starts_with("GET /a HTTP"));
}

TEST_F(UpstreamHead, WhatClientsMayNotSayIsLeftOut) {
  EXPECT_EQ(passed_on("Connection: X-Mine, close\r\nX-Mine: 1\r\nx-mine: 2\r\nX-Other: 3\r\n"),
            "X-Other: 3\r\n");
  EXPECT_EQ(passed_on("Connection: a\r\nConnection: b\r\nA: 1\r\nB: 2\r\nC: 3\r\n"), "C: 3\r\n");
  EXPECT_EQ(passed_on("Keep-Alive: 5\r\nTE: trailers\r\nTrailer: X\r\nUpgrade: h2c\r\n"
                      "Proxy-Connection: close\r\nProxy-Authorization: Basic eDp5\r\n"),
            "");
  EXPECT_EQ(passed_on("Ringside-Topology: 1\r\nringside-extra-key: DE&\r\nRINGSIDE-X: 1\r\n"
                      "Ringside-Bucket: 7\r\n"
                      "Ringside-Outcome: hit\r\nRingsides: 1\r\n"),
            "Ringsides: 1\r\n");
  EXPECT_EQ(passed_on("X-Country: DE\r\nx-country: FR\r\nX-Country-Name: Germany\r\n"),
            "X-Country-Name: Germany\r\n");
  // What makes an answer private can't be named away.
  EXPECT_EQ(passed_on("Connection: authorization, cache-control\r\nAuthorization: Basic eDp5\r\n"
                      "Cache-Control: no-store\r\n"),
            "Authorization: Basic eDp5\r\nCache-Control: no-store\r\n");
}

// `X-Forwarded-Host` from a client chose the links in a page that was stored for all.
TEST_F(UpstreamHead, WhatOnlyProxiesMaySayReachedTheOriginFromClients) {
  const std::string lines =
      "X-Forwarded-Host: evil.test\r\nx-forwarded-prefix: /evil\r\nX-Real-IP: 1.1.1.1\r\n"
      "X-Original-URL: /admin\r\nX-Forwarded: 1\r\nX-Other: 3\r\n";
  EXPECT_EQ(passed_on(lines), "X-Forwarded: 1\r\nX-Other: 3\r\n");
  settings_.trusted = {Network::parse("203.0.113.0/24").value()};
  EXPECT_EQ(passed_on(lines),
            "X-Forwarded-Host: evil.test\r\nx-forwarded-prefix: /evil\r\nX-Real-IP: 203.0.113.9\r\n"
            "X-Original-URL: /admin\r\nX-Forwarded: 1\r\nX-Other: 3\r\n");
}

// The answer to HEAD, without content, was stored as that to GET.
TEST_F(UpstreamHead, WhatMakesAnotherMethodOfAGetReachedTheOrigin) {
  const std::string line = "X-HTTP-Method-Override: HEAD\r\n";
  EXPECT_EQ(passed_on(line + "X-Method-Override: PUT\r\nX-Other: 3\r\n"), "X-Other: 3\r\n");
  const auto posted = written("POST / HTTP/1.1\r\nHost: a.test\r\n" + line + "\r\n");
  EXPECT_NE(posted.find(line), std::string::npos) << posted;
}

// WSGI and CGI read it as the country that we tell.
TEST_F(UpstreamHead, ANameWithAnUnderscoreReachedTheOrigin) {
  const std::string lines = "X_Country: FR\r\nX-Other: 3\r\n";
  EXPECT_EQ(passed_on(lines), "X-Other: 3\r\n");
  settings_.underscores = true;
  EXPECT_EQ(passed_on(lines), lines);
}

TEST_F(UpstreamHead, TheCountryIsOnlyToldWhereTheKeyHoldsIt) {
  settings_.country_header = "CF-IPCountry";
  const std::string request =
      "GET / HTTP/1.1\r\nHost: a.test\r\nCF-IPCountry: DE\r\nX-Country: FR\r\n\r\n";
  auto out = written(request);
  EXPECT_NE(out.find("\r\nCF-IPCountry: ZZ\r\n"), std::string::npos) << out;
  EXPECT_EQ(out.find("DE"), std::string::npos) << out;
  EXPECT_NE(out.find("\r\nX-Country: FR\r\n"), std::string::npos) << out;  // just some field here

  settings_.routes = {route_of("all", "", "/", "path,header:accept")};
  out = written(request);
  EXPECT_EQ(out.find("CF-IPCountry"), std::string::npos) << out;
  EXPECT_NE(out.find("Ringside-Extra-Key: header:accept&\r\n"), std::string::npos) << out;

  settings_.routes = {route_of("all", "", "/", "path")};
  EXPECT_EQ(written(request).find("Ringside-Extra-Key"), std::string::npos);
}

TEST_F(UpstreamHead, BodiesKeepTheirFraming) {
  const auto framing = [&](const std::string& lines) {
    const auto out = written("POST / HTTP/1.1\r\nHost: a.test\r\n" + lines + "\r\n");
    const std::string_view last = "Ringside-Extra-Key: country=ZZ&\r\n";
    const auto from = out.find(last) + last.size();
    return out.substr(from, out.size() - 2 - from);
  };
  EXPECT_EQ(framing(""), "");
  EXPECT_EQ(framing("Content-Length: 0\r\n"), "Content-Length: 0\r\n");
  EXPECT_EQ(framing("content-length: 12\r\nExpect: 100-continue\r\n"),
            "Content-Length: 12\r\nExpect: 100-continue\r\n");
  EXPECT_EQ(framing("Expect: 100-continue\r\n"), "");  // for nothing
  EXPECT_EQ(framing("transfer-encoding: Chunked\r\n"), "Transfer-Encoding: chunked\r\n");
}

TEST_F(UpstreamHead, ViaIsContinued) {
  const auto via = [&](const std::string& version, const std::string& lines) {
    const auto out = written("GET / HTTP/" + version + "\r\nHost: a.test\r\n" + lines + "\r\n");
    const auto from = out.find("Via: ");
    return out.substr(from, out.find("\r\n", from) - from);
  };
  EXPECT_EQ(via("1.1", ""), "Via: 1.1 ringside (1a2b)");
  EXPECT_EQ(via("1.0", ""), "Via: 1.0 ringside (1a2b)");
  EXPECT_EQ(via("1.1", "Via: 1.0 fred\r\nvia: 1.1 p.test (nginx)\r\n"),
            "Via: 1.0 fred, 1.1 p.test (nginx), 1.1 ringside (1a2b)");
}

// RFC 9110 §7.6.2, §7.8
TEST_F(UpstreamHead, MaxForwardsIsCountedAndAnUpgradeAskedForAnew) {
  const auto has = [&](const std::string& head, std::string_view line) {
    return written(head).find(line) != std::string::npos;
  };
  const std::string options = "OPTIONS /a HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 3\r\n\r\n";
  EXPECT_TRUE(has(options, "\r\nMax-Forwards: 2\r\n"));
  EXPECT_FALSE(has(options, "Max-Forwards: 3"));
  EXPECT_TRUE(
      has("GET /a HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 3\r\n\r\n", "\r\nMax-Forwards: 3\r\n"));
  const std::string upgrade =
      "GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, Upgrade, X-Mine\r\n"
      "X-Mine: 1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n";
  EXPECT_TRUE(has(upgrade, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"));
  EXPECT_TRUE(has(upgrade, "\r\nSec-WebSocket-Key: k\r\n"));
  EXPECT_FALSE(has(upgrade, "X-Mine"));
}

// A list that no trusted proxy has written was continued in the other field.
TEST_F(UpstreamHead, OnlyATrustedPeersListInTheFieldThatIsBelievedIsContinued) {
  settings_.trusted = {Network::parse("10.0.0.0/8").value()};
  struct Row {
    std::string_view peer;
    std::string lines;
    std::string forwarded;
    std::string listed;
    std::string from = "x-forwarded-for";
  };
  for (const Row& row : std::vector<Row>{
           {"203.0.113.9", "", "for=203.0.113.9;proto=http", "203.0.113.9"},
           {"203.0.113.9", "Forwarded: for=1.1.1.1\r\nX-Forwarded-For: 1.1.1.1\r\n",
            "for=203.0.113.9;proto=http", "203.0.113.9"},
           {"2001:db8::1", "", "for=\"[2001:db8::1]\";proto=http", "2001:db8::1"},
           {"10.0.0.1", "", "for=10.0.0.1;proto=http", "10.0.0.1"},
           {"10.0.0.1", "X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n",
            "for=2.2.2.2;proto=http", "1.1.1.1, 2.2.2.2, 10.0.0.1"},
           {"10.0.0.1", "Forwarded: for=1.1.1.1;proto=https\r\n", "for=10.0.0.1;proto=http",
            "10.0.0.1"},
           {"10.0.0.1", "Forwarded: for=1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n",
            "for=2.2.2.2;proto=http", "2.2.2.2, 10.0.0.1"},
           {"10.0.0.1", "Forwarded: for=1.1.1.1;proto=https\r\n",
            "for=1.1.1.1;proto=https, for=10.0.0.1;proto=http", "1.1.1.1", "forwarded"},
           {"10.0.0.1", "Forwarded: for=1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n",
            "for=1.1.1.1, for=10.0.0.1;proto=http", "1.1.1.1", "forwarded"},
           {"10.0.0.1", "X-Real-IP: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n",
            "for=1.1.1.1;proto=http", "1.1.1.1", "x-real-ip"},
           {"10.0.0.1", "X-Forwarded-For:\r\n", "for=10.0.0.1;proto=http", "10.0.0.1"},
       }) {
    settings_.client_address_from = row.from;
    const auto out = written("GET / HTTP/1.1\r\nHost: a.test\r\n" + row.lines + "\r\n",
                             Upstream::replica, row.peer);
    EXPECT_NE(
        out.find("\r\nForwarded: " + row.forwarded + "\r\nX-Forwarded-For: " + row.listed + "\r\n"),
        std::string::npos)
        << row.peer << " " << row.lines << out;
  }
}

// The scheme was always http: in the key, and in what the origin is told.
TEST_F(UpstreamHead, TheSchemeIsTheOneThatATrustedProxyTells) {
  settings_.trusted = {Network::parse("10.0.0.0/8").value()};
  struct Row {
    std::string_view peer;
    std::string lines;
    std::string forwarded;
    std::string_view scheme;
    std::string from = "x-forwarded-for";
  };
  for (const Row& row : std::vector<Row>{
           {"10.0.0.1", "X-Forwarded-For: 2.2.2.2\r\nX-Forwarded-Proto: https\r\n",
            "for=2.2.2.2;proto=https", "https"},
           {"10.0.0.1", "Forwarded: for=2.2.2.2;proto=https\r\n",
            "for=2.2.2.2;proto=https, for=10.0.0.1;proto=http", "https", "forwarded"},
           {"10.0.0.1", "Forwarded: for=2.2.2.2;proto=https\r\n", "for=10.0.0.1;proto=http",
            "http"},
           {"10.0.0.1", "X-Forwarded-Proto: http\r\n", "for=10.0.0.1;proto=http", "http"},
           {"203.0.113.9", "X-Forwarded-Proto: https\r\n", "for=203.0.113.9;proto=http", "http"},
           {"203.0.113.9", "Forwarded: for=2.2.2.2;proto=https\r\n", "for=203.0.113.9;proto=http",
            "http"},
       }) {
    settings_.client_address_from = row.from;
    const std::string head = "GET / HTTP/1.1\r\nHost: a.test\r\n" + row.lines + "\r\n";
    for (const auto upstream : {Upstream::replica, Upstream::origin}) {
      const auto out = written(head, upstream, row.peer);
      EXPECT_NE(out.find("\r\nForwarded: " + row.forwarded + "\r\n"), std::string::npos) << out;
      const auto proto = out.find("X-Forwarded-Proto: ");
      EXPECT_EQ(out.substr(proto, out.find("\r\n", proto) - proto),
                "X-Forwarded-Proto: " + std::string(row.scheme));
      EXPECT_EQ(proto, out.rfind("X-Forwarded-Proto")) << out;
      const bool told = upstream == Upstream::replica && row.scheme == "https";
      EXPECT_EQ(out.find("\r\nRingside-Scheme: https\r\n") != std::string::npos, told) << out;
    }
  }
}

class ClientHead : public ::testing::Test {
 protected:
  static std::string begun(std::string text, std::string_view left_out = {}, bool tells_all = false,
                           http::CacheStatus::Forward why = http::CacheStatus::Forward::bypass) {
    text += "\r\n";
    http::ResponseHead response;
    const auto parsed = http::parse_response_head(text, http::HeadLimits::defaults(), "GET",
                                                  ErrorSource::peer, response);
    if (!parsed) return parsed.error().message;
    http::FieldLines out;
    http::CacheStatus own;
    own.cache = "ringside";
    own.forward = why;
    add_client_fields(out, response, TimePoint{}, own, "ringside", left_out, tells_all);
    return std::string(out.text());
  }
};

TEST_F(ClientHead, IsBegunWithOurMember) {
  EXPECT_EQ(begun("HTTP/1.1 200 Very well\r\nContent-Length: 3\r\nCache-Status: cache-1; hit\r\n"
                  "ETag: \"x\"\r\nVia: 1.1 cache-1\r\nAge: 7\r\n"),
            "Content-Length: 3\r\nETag: \"x\"\r\nVia: 1.1 cache-1\r\n"
            "Age: 7\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Cache-Status: cache-1; hit, ringside; fwd=bypass\r\nVia: 1.1 ringside\r\n");
  EXPECT_EQ(begun("HTTP/1.0 304 Not Modified\r\n"),
            "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Cache-Status: ringside; fwd=bypass\r\n"
            "Via: 1.0 ringside\r\n");
}

TEST_F(ClientHead, WhatWentWrongAtAReplicaIsToldToThoseWhoAreTrusted) {
  const std::string head =
      "HTTP/1.1 502 Bad Gateway\r\nProxy-Status: cache-1; error=connection_refused\r\n"
      "Ringside-Detail: 10.0.0.7:8000 \"refused\"\r\n";
  EXPECT_EQ(begun(head).find("10.0.0.7"), std::string::npos);
  EXPECT_TRUE(begun(head, {}, true)
                  .starts_with("Proxy-Status: cache-1; error=connection_refused; "
                               "details=\"10.0.0.7:8000 \\\"refused\\\"\"\r\n"))
      << begun(head, {}, true);
}

// RFC 9110 §7.6.3: the version is that of the message received. It was always 1.1.
TEST_F(ClientHead, ViaTellsTheVersionThatTheUpstreamSpoke) {
  for (const std::string version : {"1.0", "1.1"}) {
    EXPECT_TRUE(begun("HTTP/" + version + " 200 OK\r\nVia: 1.1 b\r\n")
                    .ends_with("\r\nVia: " + version + " ringside\r\n"))
        << version;
  }
}

TEST_F(ClientHead, CacheStatusLinesAreJoinedInOrder) {
  EXPECT_EQ(begun("HTTP/1.1 200 OK\r\nCache-Status: origin; hit\r\nContent-Length: 0\r\n"
                  "cache-status: cache-1; fwd=uri-miss\r\nCache-Status:\r\n"),
            "Content-Length: 0\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Cache-Status: origin; hit, "
            "cache-1; fwd=uri-miss, ringside; fwd=bypass\r\nVia: 1.1 ringside\r\n");
}

// A hit looked as if it had been bypassed: `cache-1; hit, ringside; fwd=bypass`.
TEST_F(ClientHead, WhatAReplicaSaysOfACacheStandsAlone) {
  constexpr auto none = http::CacheStatus::Forward::none;
  EXPECT_EQ(
      begun("HTTP/1.1 200 OK\r\nCache-Status: cache-1; hit\r\nDate: now\r\n", {}, false, none),
      "Date: now\r\nCache-Status: cache-1; hit\r\nVia: 1.1 ringside\r\n");
  EXPECT_EQ(begun("HTTP/1.1 200 OK\r\nDate: now\r\n", {}, false, none),
            "Date: now\r\nVia: 1.1 ringside\r\n");
}

TEST_F(ClientHead, WhatIsNotForTheClientIsLeftOut) {
  EXPECT_EQ(begun("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n"
                  "Connection: X-Mine\r\nX-Mine: 1\r\nRingside-Outcome: hit\r\n"
                  "ringside-near-ttl-ms: 5\r\nRingside-Whatever: 1\r\nKeep-Alive: 5\r\nAge: 7\r\n",
                  "age"),
            "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Cache-Status: ringside; fwd=bypass\r\nVia: 1.1 ringside\r\n");
}

// RFC 9110 §6.6.1
TEST_F(ClientHead, ADateThatIsThereIsNotTouched) {
  EXPECT_EQ(begun("HTTP/1.1 200 OK\r\ndate: yesterday\r\n"),
            "date: yesterday\r\nCache-Status: ringside; fwd=bypass\r\n"
            "Via: 1.1 ringside\r\n");
}

TEST(ReplicaNotes, AreEmptyWhereNothingWasSaid) {
  http::Fields fields;
  EXPECT_EQ(read_notes(fields).outcome, "");
  EXPECT_EQ(read_notes(fields).near_ttl_ms, "");
  fields.add("ringside-outcome", "hit");
  fields.add("Ringside-Near-Ttl-Ms", "250");
  EXPECT_EQ(read_notes(fields).outcome, "hit");
  EXPECT_EQ(read_notes(fields).near_ttl_ms, "250");
}

std::string content_of(http::Response& response) {
  const auto pulled = response.body.take();
  return std::string((*pulled)->pieces.front());
}

TEST(PurgeResponse, SaysWhoIsMissing) {
  http::Response response;
  const auto page = http::PurgeTarget::of_request("a.test", "/a");
  make_purge_response(response, {3, {}}, page, TimePoint{});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.fields.text(),
            "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 26\r\n"
            "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
  EXPECT_EQ(content_of(response), "purged 3 stored responses\n");
  const std::vector<std::string> missing{"cache-1: timeout", "cache-2: answered 403"};
  make_purge_response(response, {0, missing}, page, TimePoint{});
  EXPECT_EQ(response.status, 502);
  EXPECT_EQ(response.reason, "Bad Gateway");
  EXPECT_EQ(content_of(response),
            "purged 0 stored responses\n"
            "incomplete, not confirmed by cache-1: timeout; cache-2: answered 403\n");
  make_purge_response(response, {0, {}}, http::PurgeTarget::all(), TimePoint{});
  EXPECT_EQ(content_of(response), "purged 0 stored responses\n");
}

}  // namespace
}  // namespace ringside::sidecar
