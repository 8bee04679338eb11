#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "tests/sidecar/keeping_replica.h"
#include "tests/support/mmdb_writer.h"

namespace ringside::sidecar {
namespace {

using metrics::Outcome;
using support::always;
using support::eventually;
using support::Gate;
using support::RawSocket;
using support::refusing_address;
using support::ScriptedPeer;
using support::Stage;

constexpr Milliseconds second{1'000};

TEST(Purge, AnAnswerThatWasUnderWayDoesNotUndoIt) {
  Gate go_on;
  const ScriptedPeer replica(halting(go_on, "old"));
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  make_frequent(client);
  client.send(support::get_request("/a"));
  ASSERT_TRUE(eventually([&] { return replica.requests() == 2; }));
  EXPECT_TRUE(sidecar.purge("a.test", "/a").missing.empty());
  go_on.open();
  EXPECT_EQ(client.read().body, "oldold");
  EXPECT_EQ(sidecar.get("/a").body, "new");
}

TEST(Purge, ReachesTheNearCachesOfAllCores) {
  for (const bool by_request : {false, true}) {
    const ScriptedPeer replica(keeping());
    SomeSidecar sidecar(settings_for({replica.address()}, with_near_cache), 4);
    // The kernel deals connections out to the cores; so many meet all of them.
    std::vector<support::TestClient> clients;
    for (int i = 0; i < 40; ++i) clients.push_back(sidecar.client());
    int newest = 0;
    for (auto& client : clients) newest = std::max(newest, std::stoi(client.get("/a").body));
    EXPECT_LE(newest, 8);  // each of the four cores keeps the second answer that it has
    if (by_request) {
      EXPECT_EQ(sidecar.ask(purge_request).status, 200);
    } else {
      EXPECT_EQ(sidecar.purge("a.test", "/a").removed, 2U);
    }
    for (auto& client : clients) EXPECT_GT(std::stoi(client.get("/a").body), newest);
  }
}

TEST(Purge, AsksEveryReplicaAndNamesTheMissing) {
  const ScriptedPeer one(always(std::string(purged_answer)));
  const ScriptedPeer two(always(std::string(purged_answer)));
  const ScriptedPeer forbidding(always("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
  SomeSidecar sidecar({one.address(), refusing_address(), two.address(), forbidding.address()});
  const auto report = sidecar.purge("a.test", "/a?b");
  EXPECT_EQ(report.removed, 4U);
  ASSERT_EQ(report.missing.size(), 2U);
  EXPECT_EQ(report.missing[0].find("cache-1: cannot connect"), 0U) << report.missing[0];
  EXPECT_TRUE(report.missing[1].starts_with("cache-3: takes no purges from this sidecar; give it"));
  const std::string asked = one.heads().back();
  EXPECT_TRUE(asked.starts_with("PURGE /a?b HTTP/1.1\r\nHost: a.test\r\nRingside-Topology: "))
      << asked;
  EXPECT_NE(asked.find("\r\nRingside-Purge: "), std::string::npos) << asked;
  EXPECT_TRUE(asked.ends_with(" 1\r\nRingside-Purge-Settled: 0\r\n\r\n")) << asked;
}

ScriptedPeer::Script purged(Gate& has_answered) {
  return [&has_answered](Stage& stage) {
    stage.read_request();
    stage.send(purged_answer);
    has_answered.open();
    stage.stall();
  };
}

// What had come to its one core before this is read by then: when the second answer of its own
// comes, the core has waited for more since the first one.
void let_read_what_has_come(SomeSidecar& sidecar) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(sidecar.ask("GET / HTTP/1.1\r\nHost : a.test\r\n\r\n").status, 400);
  }
}

// Time went on before the other one's answer was read, now and then.
TEST(Purge, ASilentReplicaIsMissing) {
  Gate has_answered;
  const ScriptedPeer silent([](Stage& stage) {
    stage.read_request();
    stage.stall();
  });
  const ScriptedPeer alive(purged(has_answered));
  SomeSidecar sidecar({silent.address(), alive.address()},
                      [](Settings& settings) { settings.first_byte_timeout = 3 * second; });
  auto report = std::async(std::launch::async, [&] { return sidecar.purge("a.test", "/a"); });
  ASSERT_TRUE(eventually([&] { return silent.requests() == 1; }));
  ASSERT_TRUE(has_answered.wait());
  let_read_what_has_come(sidecar);
  sidecar.clock().advance(3 * second + second / 10);
  const auto purged = report.get();
  EXPECT_EQ(purged.removed, 2U);
  ASSERT_EQ(purged.missing.size(), 1U);
  EXPECT_EQ(purged.missing[0].find("cache-0: "), 0U);
}

TEST(Purge, SilentReplicasKeepNobodyWaiting) {
  Gate has_answered;
  const auto say_nothing = [](Stage& stage) {
    stage.read_request();
    stage.stall();
  };
  const ScriptedPeer first(say_nothing);
  const ScriptedPeer second_one(say_nothing);
  const ScriptedPeer alive(purged(has_answered));
  SomeSidecar sidecar({first.address(), second_one.address(), alive.address()},
                      [](Settings& settings) { settings.first_byte_timeout = 3 * second; });
  auto report = std::async(std::launch::async, [&] { return sidecar.purge("a.test", "/a"); });
  // All are asked while time stands still, and their timeouts run together.
  ASSERT_TRUE(eventually([&] { return first.requests() == 1 && second_one.requests() == 1; }));
  ASSERT_TRUE(has_answered.wait());
  let_read_what_has_come(sidecar);
  sidecar.clock().advance(3 * second + second / 10);
  const auto purged = report.get();
  EXPECT_EQ(purged.removed, 2U);
  EXPECT_EQ(purged.missing.size(), 2U);
}

TEST(Purge, AStoppedSidecarAsksNobodyAndSaysSo) {
  const ScriptedPeer one(always(std::string(purged_answer)));
  SomeSidecar sidecar({one.address()});
  sidecar->stop();
  const auto report = sidecar.purge("a.test", "/a");
  EXPECT_EQ(report.removed, 0U);
  ASSERT_EQ(report.missing.size(), 1U);
  EXPECT_NE(report.missing[0].find("has stopped"), std::string::npos);
  EXPECT_EQ(one.requests(), 0U);
}

TEST(Purge, IsARequestForThoseWhoMay) {
  const ScriptedPeer one(always(std::string(purged_answer)));
  const ScriptedPeer two(always(std::string(purged_answer)));
  SomeSidecar sidecar({one.address(), two.address()});
  auto client = sidecar.client();
  const auto reply = client.ask("PURGE /b/../a HTTP/1.1\r\nHost: A.test\r\n\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "purged 4 stored responses\n");
  EXPECT_EQ(target_of(one.heads().back()), "/a");
  EXPECT_EQ(support::field(two.heads().back(), "host"), "a.test");
  EXPECT_TRUE(sidecar.will_count(1, Outcome::bypass, ""));

  // What was sent with it is not read, and the client is told so.
  const auto with_body = client.ask(post("/a", "body", "PURGE"));
  EXPECT_EQ(with_body.status, 200);
  EXPECT_EQ(with_body.field("connection"), "close");
  EXPECT_EQ(client.read_to_end(), RawSocket::End::closed);

  sidecar->apply(settings_for({one.address(), refusing_address()}));
  const auto incomplete = sidecar.ask(purge_request);
  EXPECT_EQ(incomplete.status, 502);
  EXPECT_NE(incomplete.body.find("not confirmed by cache-1"), std::string::npos);

  sidecar->apply(settings_for({one.address()}, [](Settings& settings) {
    settings.purge_from.clear();
    settings.trusted = {Network::parse("127.0.0.1/32").value()};
  }));
  const auto asked = one.requests();
  EXPECT_EQ(sidecar.ask(purge_request).status, 403);
  EXPECT_EQ(one.requests(), asked);
}

TEST(Counting, ByReplicaCountryAndOutcome) {
  const auto answering = [](Stage& stage) {
    while (true) {
      const bool is_miss = target_of(stage.read_request()).ends_with("miss");
      const std::string outcome = is_miss ? "miss" : "hit";
      stage.send(support::answer("200 OK", "Ringside-Outcome: " + outcome + "\r\n", "12345"));
    }
  };
  const ScriptedPeer a(answering);
  const ScriptedPeer b(answering);
  const support::TemporaryFile file(support::mmdb({{"2.0.0.0/8", "FR"}, {"81.2.0.0/16", "GB"}}));
  const auto settings = settings_for({a.address(), b.address()}, [&](Settings& change) {
    change.trusted = {Network::parse("127.0.0.1/32").value()};
    change.countries = geo::CountryDatabase::open(file.path()).value();
    change.routes = {route_of("all", "", "/", "path")};
  });
  SomeSidecar sidecar(settings);
  std::vector<std::string> of(2);  // a path of each replica
  for (int i = 0; of[0].empty() || of[1].empty(); ++i) {
    const std::string path = "/" + std::to_string(i) + "/hit";
    const std::string key = path + "\n";
    of[settings->membership->topology->owner({key, hash64(key)})] = path;
  }
  auto client = sidecar.client();
  const auto ask = [&](const std::string& path, const std::string& address) {
    EXPECT_EQ(client.get(path, "X-Forwarded-For: " + address + "\r\n").status, 200);
  };
  for (int i = 0; i < 3; ++i) ask(of[0], "2.1.1.1");
  for (int i = 0; i < 2; ++i) ask(of[1], "81.2.3.4");
  ask(of[1], "192.168.1.1");
  EXPECT_TRUE(sidecar.will_count(3, Outcome::hit, "cache-0"));
  EXPECT_TRUE(sidecar.will_count(3, Outcome::hit, "cache-1"));
  for (int i = 0; i < 8; ++i) ask("/" + std::to_string(i) + "/miss", "2.1.1.1");
  EXPECT_TRUE(eventually([&] {
    return sidecar.counted(Outcome::miss, "cache-0") + sidecar.counted(Outcome::miss, "cache-1") ==
           8;
  }));
  EXPECT_TRUE(eventually([&] {  // bytes are counted last
    const auto bytes = [&](Outcome outcome) {
      return sidecar.totals().of("ringside_response_bytes_total", outcome);
    };
    return bytes(Outcome::hit) == 30 && bytes(Outcome::miss) == 40;
  }));

  const auto totals = sidecar.totals();
  const auto of_country = [&](std::string_view code, Outcome outcome) {
    return totals.of("ringside_country_requests_total", metrics::country_from(code), outcome);
  };
  EXPECT_EQ(of_country("FR", Outcome::hit), 3U);
  EXPECT_EQ(of_country("FR", Outcome::miss), 8U);
  EXPECT_EQ(of_country("GB", Outcome::hit), 2U);
  EXPECT_EQ(of_country("ZZ", Outcome::hit), 1U);
  EXPECT_EQ(totals.of("ringside_connections_total"), 1U);
  EXPECT_EQ(totals.of("ringside_connections"), 1U);
  EXPECT_EQ(totals.topology->replicas, 2U);
  EXPECT_EQ(totals.topology->id, settings->membership->topology_id);
}

TEST(Counting, AReplicaThatSaysNothingHasBypassed) {
  const ScriptedPeer replica(always(support::answer("200 OK", "", "x")));
  SomeSidecar sidecar({replica.address()});
  EXPECT_EQ(sidecar.get("/").status, 200);
  EXPECT_TRUE(sidecar.will_count(1, Outcome::bypass, "cache-0"));
}

}  // namespace
}  // namespace ringside::sidecar
