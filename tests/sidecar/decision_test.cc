#include "sidecar/decision.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "tests/sidecar/some_request.h"
#include "tests/support/mmdb_writer.h"

namespace ringside::sidecar {
namespace {

std::shared_ptr<const geo::CountryDatabase> some_countries() {
  const support::TemporaryFile file(
      support::mmdb({{"2.0.0.0/8", "FR"}, {"81.2.69.160/27", "GB"}, {"2a02::/16", "DE"}}));
  return geo::CountryDatabase::open(file.path()).value();
}

class Decide : public ::testing::Test {
 protected:
  Decide() {
    settings_.trusted = {Network::parse("127.0.0.0/8").value(),
                         Network::parse("10.0.0.0/8").value()};
    settings_.routes = {route_of("all", "", "/", "country,path"),
                        route_of("static", "", "/static", "path"),
                        route_of("shop", "shop.test", "/", "host,path,query"),
                        route_of("lang", "", "/lang", "path,header:accept-language")};
    complete(settings_);
  }

  Result<void> decide(const std::string& head, std::string_view peer = "127.0.0.1") {
    request_ = std::make_unique<SomeRequest>(head);
    return sidecar::decide(**request_, address_of(peer), settings_, "ringside (1a2b)", countries_,
                           decision_);
  }
  Result<void> get(const std::string& target, const std::string& field_lines,
                   std::string_view peer = "127.0.0.1") {
    return decide("GET " + target + " HTTP/1.1\r\n" + field_lines + "\r\n", peer);
  }

  Settings settings_ = some_settings();
  geo::CountryMemo countries_{some_countries()};
  Decision decision_;
  std::unique_ptr<SomeRequest> request_;
};

TEST_F(Decide, WhoAsksAndFromWhere) {
  struct Row {
    std::string_view peer;
    std::string fields;
    std::string_view client;
    std::string_view country;
    bool trusted;
  };
  for (const Row& row : std::vector<Row>{
           {"2.1.2.3", "", "2.1.2.3", "FR", false},
           // Nobody asked for his word.
           {"2.1.2.3", "X-Forwarded-For: 81.2.69.165\r\n", "2.1.2.3", "FR", false},
           {"2.1.2.3", "X-Country: GB\r\n", "2.1.2.3", "FR", false},
           {"2a02::1", "", "2a02::1", "DE", false},
           {"127.0.0.1", "", "127.0.0.1", "ZZ", true},
           {"127.0.0.1", "X-Forwarded-For: 81.2.69.165\r\n", "81.2.69.165", "GB", true},
           {"10.1.1.1", "X-Forwarded-For: 2.1.1.1, 81.2.69.165, 10.2.2.2\r\n", "81.2.69.165", "GB",
            true},
           // Most proxies write X-Forwarded-For, and pass on what a client says in Forwarded.
           {"10.1.1.1", "Forwarded: for=\"[2a02::7]:4711\"\r\n", "10.1.1.1", "ZZ", true},
           {"10.1.1.1", "Forwarded: for=2.1.1.1\r\nX-Forwarded-For: 81.2.69.165\r\n", "81.2.69.165",
            "GB", true},
           {"10.1.1.1", "X-Forwarded-For: 192.168.0.7\r\n", "192.168.0.7", "ZZ", true},
           {"10.1.1.1", "X-Forwarded-For: 9.9.9.9\r\n", "9.9.9.9", "ZZ", true},
       }) {
    ASSERT_TRUE(get("/a", "Host: a.test\r\n" + row.fields, row.peer)) << row.fields;
    EXPECT_EQ(decision_.client.text(), row.client) << row.peer << " " << row.fields;
    EXPECT_EQ(decision_.peer.text(), row.peer);
    EXPECT_EQ(decision_.peer_is_trusted, row.trusted) << row.peer;
    EXPECT_EQ(decision_.country.code(), row.country) << row.peer << " " << row.fields;
    EXPECT_EQ(decision_.shard_key, std::string(row.country) + "\n/a\n");
    EXPECT_EQ(decision_.extra_key, "country=" + std::string(row.country) + "&");
  }
}

TEST_F(Decide, TheClientsAddressComesFromTheOneFieldThatIsNamed) {
  const std::string both =
      "Host: a.test\r\nForwarded: for=\"[2a02::7]:4711\"\r\nX-Forwarded-For: 81.2.69.165\r\n";
  for (const auto& [from, client] :
       {std::pair("forwarded", "2a02::7"), {"x-real-ip", "10.1.1.1"}}) {
    settings_.client_address_from = from;
    ASSERT_TRUE(get("/a", both, "10.1.1.1"));
    EXPECT_EQ(decision_.client.text(), client);
  }
  ASSERT_TRUE(get("/a", both + "X-Real-IP: 2.1.2.3\r\n", "10.1.1.1"));
  EXPECT_EQ(decision_.client.text(), "2.1.2.3");
}

// `X-Forwarded-Host`, which a proxy that is trusted passes on as its client wrote it, chose the
// links in a page that was stored for all.
TEST_F(Decide, WhatATrustedProxyTellsOfTheRequestIsKeyed) {
  const std::string lines =
      "Host: a.test\r\nX-Forwarded-Host: b.test\r\nX-Real-IP: 2.1.2.3\r\nX-Original-URL: /b c\r\n";
  ASSERT_TRUE(get("/a", lines, "10.1.1.1"));
  EXPECT_EQ(decision_.extra_key,
            "country=ZZ&proxy:X-Forwarded-Host=b.test&proxy:X-Original-URL=/b%20c&");
  EXPECT_EQ(decision_.shard_key, "ZZ\n/a\n");
  ASSERT_TRUE(get("/a", lines, "2.1.2.3"));
  EXPECT_EQ(decision_.extra_key, "country=FR&");
}

// Found by tests/keys: two lines were keyed as two, and sent on as one unless they were signed.
TEST_F(Decide, WhatATrustedProxyTellsIsKeyedAsItIsSent) {
  const std::string lines = "Host: a.test\r\nX-Forwarded-Prefix: /a\r\nX-Forwarded-Prefix: /b\r\n";
  ASSERT_TRUE(get("/a", lines, "10.1.1.1"));
  EXPECT_EQ(decision_.extra_key, "country=ZZ&proxy:X-Forwarded-Prefix=/a%2C%20/b&");
  ASSERT_TRUE(get("/a", lines + "Authorization: x\r\n", "10.1.1.1"));
  EXPECT_EQ(decision_.extra_key, "country=ZZ&proxy:X-Forwarded-Prefix=/a%0D/b&");
}

// `Connection: Accept-Language` takes the field from the origin, which answered without it; that
// was stored for all who have it.
TEST_F(Decide, WhatConnectionNamesWasKeyedAndNotForwarded) {
  settings_.routes = {route_of("all", "", "/", "header:accept-language,cookie:plan")};
  complete(settings_);
  const std::string lines = "Host: a.test\r\nAccept-Language: de\r\nCookie: plan=free\r\n";
  for (const auto& [option, key] : {std::pair("accept-language", "\nfree\n"),
                                    {"close, Accept-Language", "\nfree\n"},
                                    {"cookie", "de\n\n"},
                                    {"close", "de\nfree\n"}}) {
    ASSERT_TRUE(get("/a", lines + "Connection: " + option + "\r\n"));
    EXPECT_EQ(decision_.shard_key, key) << option;
  }
}

// One resource has one owner, by whichever scheme it is asked for.
TEST_F(Decide, TheSchemeIsNoPartOfTheShardKey) {
  const std::string list = "Host: a.test\r\nX-Forwarded-For: 2.1.2.3\r\n";
  ASSERT_TRUE(get("/a", list));
  EXPECT_EQ(decision_.scheme, http::Scheme::http);
  const std::string key = decision_.shard_key + decision_.extra_key;
  ASSERT_TRUE(get("/a", list + "X-Forwarded-Proto: https\r\n"));
  EXPECT_EQ(decision_.scheme, http::Scheme::https);
  EXPECT_EQ(decision_.shard_key + decision_.extra_key, key);
  ASSERT_TRUE(get("/a", list + "X-Forwarded-Proto: https\r\n", "2.1.2.3"));
  EXPECT_EQ(decision_.scheme, http::Scheme::http);
}

TEST_F(Decide, WithoutADatabaseEverybodyIsFromZz) {
  countries_.replace(nullptr);
  ASSERT_TRUE(get("/a", "Host: a.test\r\n", "2.1.2.3"));
  EXPECT_EQ(decision_.country.code(), "ZZ");
}

TEST_F(Decide, TheRouteChoosesTheKey) {
  struct Row {
    std::string target;
    std::string fields;
    std::string_view route;
    std::string_view shard_key;
    std::string_view extra_key;
  };
  for (const Row& row : std::vector<Row>{
           {"/", "Host: a.test\r\n", "all", "FR\n/\n", "country=FR&"},
           {"/static", "Host: a.test\r\n", "static", "/static\n", ""},
           {"/static/a.css?v=1", "Host: a.test\r\n", "static", "/static/a.css\n", ""},
           {"/statics", "Host: a.test\r\n", "all", "FR\n/statics\n", "country=FR&"},
           {"/x/../static/%7ea", "Host: a.test\r\n", "static", "/static/~a\n", ""},
           {"/static?v=1", "Host: SHOP.test:80\r\n", "shop", "shop.test\n/static\nv=1\n", ""},
           {"http://shop.test/a", "Host: shop.test\r\n", "shop", "shop.test\n/a\n\n", ""},
           {"/lang/a", "Host: a.test\r\nAccept-Language: de\r\n", "lang", "/lang/a\nde\n",
            "header:accept-language=de&"},
           {"/lang/a", "Host: a.test\r\n", "lang", "/lang/a\n\n", "header:accept-language&"},
       }) {
    ASSERT_TRUE(get(row.target, row.fields, "2.1.2.3")) << row.target;
    EXPECT_EQ(decision_.route->name, row.route) << row.target << " " << row.fields;
    EXPECT_EQ(decision_.shard_key, row.shard_key);
    EXPECT_EQ(decision_.extra_key, row.extra_key);
    EXPECT_EQ(decision_.hash, hash64(row.shard_key));
    EXPECT_EQ(decision_.key().bytes, row.shard_key);
  }
}

TEST_F(Decide, OneResourceHasOneKeyHoweverItIsWritten) {
  ASSERT_TRUE(get("/b~?x=%7E", "Host: a.test\r\n"));
  const std::string key = decision_.shard_key;
  for (const char* target :
       {"/a/../b~?x=%7E", "/b%7e?x=%7E", "/./b%7E?x=%7e", "http://A.TEST/a/%2e%2e/b~?x=%7e"}) {
    ASSERT_TRUE(get(target, "Host: a.test\r\n")) << target;
    EXPECT_EQ(decision_.shard_key, key) << target;
    EXPECT_EQ(decision_.target.text(), "/b~?x=%7E") << target;
    EXPECT_EQ(decision_.host, "a.test") << target;
  }
}

TEST_F(Decide, WhatNoRouteIsForIsOursToRefuse) {
  settings_.routes = {route_of("only", "a.test", "/only", "path")};
  complete(settings_);
  for (const auto& [target, host] : std::vector<std::pair<std::string, std::string>>{
           {"/other", "a.test"}, {"/only", "b.test"}, {"/onlyx", "a.test"}}) {
    const auto decided = get(target, "Host: " + host + "\r\n", "2.1.2.3");
    ASSERT_FALSE(decided) << host << target;
    EXPECT_EQ(decided.error().kind, ErrorKind::not_found);
    EXPECT_EQ(decided.error().source, ErrorSource::ourselves);
    EXPECT_EQ(decided.error().message, "no route for " + host + target);
    EXPECT_EQ(decision_.country.code(), "FR");  // What is known is counted.
  }
}

TEST_F(Decide, AnIdOfThePathChoosesTheReplica) {
  settings_.routes = {route_of("users", "", "/users/{id}", "id:{id},country"),
                      route_of("third", "", "/third", "id:3"),
                      route_of("orders", "", "/users/{id}/orders/{order}", "id:{order}")};
  settings_.routes[0].key_fallback = shard::KeySpec::parse("host").value();
  settings_.routes[2].key_fallback = shard::KeySpec::parse("path").value();
  complete(settings_);
  struct Row {
    std::string target;
    std::string_view shard_key;
    std::string_view extra_key;
  };
  for (const Row& row : std::vector<Row>{
           {"/users/7", "7\nFR\n", "country=FR&"},
           {"/users/anna%20b/x?q", "anna%20b\nFR\n", "country=FR&"},
           {"/users/%37", "7\nFR\n", "country=FR&"},
           {"/users/7/orders", "/users/7/orders\n", ""},  // the fallback of the longest
           {"/users/7/orders/99/lines", "99\n", ""},
           {"/users", "a.test\n", ""},  // the fallback
           {"/users/", "a.test\n", ""},
           {"/third/b/c", "c\n", ""},
           {"/third/b//c", "c\n", ""},
       }) {
    ASSERT_TRUE(get(row.target, "Host: a.test\r\n", "2.1.2.3")) << row.target;
    EXPECT_EQ(decision_.shard_key, row.shard_key) << row.target;
    EXPECT_EQ(decision_.extra_key, row.extra_key) << row.target;
  }
}

TEST_F(Decide, APathWithoutTheIdThatItsRouteTakesIsRefused) {
  settings_.routes = {route_of("users", "", "/users/{id}", "id:{id}"),
                      route_of("third", "", "/third", "path,id:3")};
  complete(settings_);
  for (const auto& [target, words] : std::vector<std::pair<std::string, std::string>>{
           {"/users", "the path has no segment 2, the id:{id} by which route users chooses a"},
           {"/users/", "the path has no segment 2"},
           {"/third/b/", "the path has no segment 3, the id:3 by which route third chooses a"}}) {
    const auto decided = get(target, "Host: a.test\r\n", "2.1.2.3");
    ASSERT_FALSE(decided) << target;
    EXPECT_EQ(decided.error().kind, ErrorKind::malformed);
    EXPECT_EQ(decided.error().source, ErrorSource::client);
    EXPECT_EQ(decided.error().message.find(words), 0U) << decided.error().message;
  }
}

TEST_F(Decide, MalformedTargetsAndHostsAreTheClients) {
  for (const auto* head : {"GET /a%00 HTTP/1.1\r\nHost: a.test\r\n\r\n",
                           "GET /a%zz HTTP/1.1\r\nHost: a.test\r\n\r\n"}) {
    const auto decided = decide(head);
    ASSERT_FALSE(decided) << head;
    EXPECT_EQ(decided.error().kind, ErrorKind::malformed) << head;
    EXPECT_EQ(decided.error().source, ErrorSource::client) << head;
  }
}

TEST_F(Decide, Http10WithoutHostIsForTheSameHostAtEverySidecar) {
  ASSERT_TRUE(decide("GET /static HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(decision_.host, "localhost");
}

TEST_F(Decide, NothingOfTheRequestBeforeIsLeft) {
  ASSERT_TRUE(get("/lang/long-path?query",
                  "Host: a.test\r\nAccept-Language: de\r\nX-Forwarded-For: 81.2.69.165\r\n"));
  ASSERT_TRUE(
      decide("POST /static HTTP/1.1\r\nHost: b.test\r\nContent-Length: 1\r\n\r\n", "2.1.2.3"));
  EXPECT_EQ(decision_.method, "POST");
  EXPECT_EQ(decision_.target.text(), "/static");
  EXPECT_EQ(decision_.host, "b.test");
  EXPECT_EQ(decision_.client.text(), "2.1.2.3");
  EXPECT_FALSE(decision_.peer_is_trusted);
  EXPECT_EQ(decision_.country.code(), "FR");
  EXPECT_EQ(decision_.shard_key, "/static\n");
  EXPECT_EQ(decision_.extra_key, "");
}

}  // namespace
}  // namespace ringside::sidecar
