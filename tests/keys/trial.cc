#include "tests/keys/trial.h"

#include <array>
#include <random>

#include "tests/keys/origin.h"

namespace ringside::keys {
namespace {

constexpr auto kTargets = std::to_array<std::string_view>({"/static/a",
                                                           "/static//a",
                                                           "//static/a",
                                                           "/static/%61",
                                                           "/static/..%2faccount",
                                                           "/static/..%5ca",
                                                           "/account",
                                                           "//account",
                                                           "/%2faccount",
                                                           "/account%2f",
                                                           "/account;x",
                                                           "/static/..;/account",
                                                           "/cookie",
                                                           "/cookie/",
                                                           "/header",
                                                           "/header?q=1",
                                                           "/header?q=%31",
                                                           "/",
                                                           "/.",
                                                           "/x/../header",
                                                           "http://a.test/",
                                                           "/account?",
                                                           "/static/../account",
                                                           "/cookie#",
                                                           "/static\\..\\account",
                                                           "/id",
                                                           "/id/",
                                                           "/id/7",
                                                           "/id//7",
                                                           "/id/%37/a",
                                                           "/id/7;x",
                                                           "/id/7%2f8",
                                                           "/user/7/page",
                                                           "/user//page",
                                                           "/user/../id/7",
                                                           "/user/7//page?q",
                                                           "/case",
                                                           "/case",
                                                           "/case?beta",
                                                           "/case?%62eta=1",
                                                           "/case?x&beta=",
                                                           "/case//a",
                                                           "/case/a?q",
                                                           "/case%2fa"});
constexpr auto kHosts =
    std::to_array<std::string_view>({"a.test", "A.test", "a.test:80", "a.test.", "b.test"});
constexpr auto kMethods = std::to_array<std::string_view>({"GET", "GET", "GET", "HEAD", "POST"});
constexpr auto kClients =
    std::to_array<std::string_view>({"203.0.113.9", "203.0.113.9", "10.0.0.1", "2001:db8::1"});
constexpr auto kFields =
    std::to_array<std::string_view>({"Accept-Language: de",
                                     "Accept-Language: DE",
                                     "Accept-Language: en;q=0.7,de-DE",
                                     "Accept-Language: de-de, en;q=0.70",
                                     "Accept-Language: en_GB , de",
                                     "Accept-Encoding: gzip, br",
                                     "Accept-Encoding: br,GZIP;q=1.0",
                                     "X-Theme: dark",
                                     "X-Theme: dark,",
                                     "x-theme: DARK",
                                     "X-Theme: a,b",
                                     "X-Theme: a , b",
                                     "X-Theme: a",
                                     "X-Theme: b",
                                     "X-Theme:",
                                     "X_Theme: dark",
                                     "X-Plan: free",
                                     "X-Plan: free,",
                                     "X-Plan:",
                                     "X-Plan: paid",
                                     "X_Plan: free",
                                     "Cookie: lang=de",
                                     "Cookie: lang=de; lang=fr",
                                     "Cookie: lang=fr; a=b",
                                     "Cookie: Lang=fr; lang=de",
                                     "Cookie: lang=de; x=\"; lang=fr\"",
                                     "Cookie: lang=de, lang=fr",
                                     "Cookie: lang=",
                                     "Cookie: a=b",
                                     "Cookie: lang =fr; lang=de",
                                     "X-Country: FR",
                                     "X_Country: FR",
                                     "X-Forwarded-Host: evil.test",
                                     "X_Forwarded_Host: evil.test",
                                     "X-Forwarded-Proto: https",
                                     "X-Forwarded-Proto: https,",
                                     "X-Forwarded-Prefix: /evil",
                                     "Forwarded: for=81.2.69.160;proto=https;host=evil.test",
                                     "X-Forwarded-For: 81.2.69.160",
                                     "X-Forwarded-For: 53.1.2.3, 10.0.0.2",
                                     "X-Real-IP: 81.2.69.160",
                                     "X-Original-URL: /account",
                                     "X-HTTP-Method-Override: HEAD",
                                     "Connection: X-Theme",
                                     "Connection: cookie, accept-language",
                                     "Connection: x-plan, close",
                                     "Authorization: Basic eDp5",
                                     "Cache-Control: no-cache",
                                     "Range: bytes=0-1",
                                     "If-None-Match: \"x\"",
                                     "Ringside-Topology: t",
                                     "Ringside-Extra-Key: country=FR&",
                                     "Ringside-Scheme: https",
                                     "User-Agent: somebody"});

template <std::size_t size>
std::string_view one_of(const std::array<std::string_view, size>& pool, std::mt19937& random) {
  return pool[random() % size];
}

}  // namespace

Asked make_request(std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::string_view method = one_of(kMethods, random);
  std::string head(method);
  head.append(" ").append(one_of(kTargets, random)).append(" HTTP/1.1\r\nHost: ");
  head.append(one_of(kHosts, random)).append("\r\n");
  constexpr std::size_t most_fields = 4;
  for (std::size_t left = random() % (most_fields + 1); left > 0; --left) {
    head.append(one_of(kFields, random)).append("\r\n");
  }
  return {head + "\r\n", std::string(one_of(kClients, random))};
}

std::string Trial::objection(const Asked& asked) {
  const auto passed = chain_.pass(asked.head, asked.client);
  if (!passed) return {};
  const auto told = [&](std::string_view what) {
    return std::string(what) + "\n" + asked.head + "at the origin\n" + passed->origin_head;
  };
  const auto as_read = chain_.routes().find("a.test", path_as_read(passed->origin_head));
  if (!as_read || chain_.path_of(as_read->index) != chain_.path_of(passed->route)) {
    return told("the origin reads the path of another route");
  }
  if (passed->route != passed->sidecars_route) return told("the sidecar follows another route");
  if (!passed->may_share) return {};
  First now{asked.head, passed->shard_key, echo(passed->origin_head), passed->route};
  const auto [first, is_new] = firsts_.emplace(passed->key, now);
  if (is_new) return {};
  ++shared_;
  if (first->second.shard_key != now.shard_key) {
    return told("an equal key, and another shard key, had\n" + first->second.head);
  }
  if (first->second.route != now.route) {
    return told("an equal key, and another route, had\n" + first->second.head);
  }
  if (first->second.echo != now.echo) {
    return told("an equal key, and another answer, had\n" + first->second.head + "which echoed\n" +
                first->second.echo);
  }
  return {};
}

}  // namespace ringside::keys
