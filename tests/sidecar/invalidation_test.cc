#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "http/hop.h"
#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using metrics::Outcome;
using support::eventually;
using support::Gate;
using support::refusing_address;
using support::ScriptedPeer;
using support::Stage;

const std::string confirmed = support::answer("200 OK", "Ringside-Purged: 1\r\n", "");
const std::string not_understood = support::answer("200 OK", "Allow: GET\r\n", "");

bool is_invalidation(std::string_view request) {
  return !support::field(request, "ringside-purge").empty();
}

// A replica, or an origin: answers clients' requests with `answer`, and invalidations with
// `confirmation`; where that is empty, with silence.
ScriptedPeer::Script answering(std::string answer, std::string confirmation = confirmed) {
  return [answer = std::move(answer), confirmation = std::move(confirmation)](Stage& stage) {
    while (true) {
      const bool asked_by_sidecar = is_invalidation(stage.read_request());
      if (asked_by_sidecar && confirmation.empty()) stage.stall();
      stage.send(asked_by_sidecar ? confirmation : answer);
    }
  };
}

// One that confirms, ends the connection, and tells that its confirmation was read: the other side
// ends it, too, and only then.
ScriptedPeer::Script confirming(std::string answer, std::atomic<bool>& was_read) {
  return [answer = std::move(answer), &was_read](Stage& stage) {
    while (!is_invalidation(stage.read_request())) stage.send(answer);
    stage.send(support::answer("200 OK", "Ringside-Purged: 1\r\nConnection: close\r\n", ""));
    stage.read_to_end();
    was_read = true;
  };
}

const std::string created =
    support::answer("201 Created", "Ringside-Outcome: bypass\r\nLocation: /new?x#y\r\n", "made");
const std::string missing = support::answer("404 Not Found", "Location: /new\r\n", "none");

// A sidecar's mark is random.
std::string with_mark_named(std::string head) {
  const std::string mark(
      support::field(head, "ringside-purge").substr(0, http::random_mark().size()));
  return head.replace(head.find(mark), mark.size(), "MARK");
}

std::vector<std::string> invalidations(const ScriptedPeer& replica) {
  std::vector<std::string> found;
  for (const auto& head : replica.heads()) {
    if (is_invalidation(head)) found.push_back(with_mark_named(head));
  }
  return found;
}

std::uint64_t failures(const SomeSidecar& sidecar, std::string_view replica) {
  for (const auto& shard : sidecar.totals().shards) {
    if (shard.name == replica) return shard.of("ringside_invalidations_failed_total");
  }
  ADD_FAILURE() << "no replica " << replica;
  return 0;
}

std::string invalidation(const Settings& settings, std::string_view target, std::string_view lines,
                         std::size_t number) {
  return "OPTIONS " + std::string(target) +
         " HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\nRingside-Topology: " +
         settings.membership->topology_id + "\r\n" + std::string(lines) + "Ringside-Purge: MARK " +
         std::to_string(number) + "\r\nRingside-Purge-Settled: " + std::to_string(number - 1) +
         "\r\n\r\n";
}

TEST(Invalidation, Rfc9111Section4Point4EveryReplicaIsAskedBeforeTheAnswerGoesOut) {
  const ScriptedPeer owner(answering(created));
  const ScriptedPeer second(answering(created));
  const ScriptedPeer third(answering(created));
  const auto settings = settings_for({owner.address(), second.address(), third.address()});
  SomeSidecar sidecar(settings);
  const std::string path = path_of(*settings, {0});
  std::vector<std::string> asked;
  std::vector<std::string> told;
  auto client = sidecar.client();
  for (std::size_t requests = 1; requests <= 2; ++requests) {  // the second on kept connections
    const auto reply = client.ask(post(path, "x"));
    EXPECT_EQ(reply.status, 201);
    EXPECT_EQ(reply.body, "made");
    EXPECT_EQ(reply.head.find("Ringside-"), std::string::npos) << reply.head;
    asked.push_back(invalidation(
        *settings, path, "Ringside-Invalidate: " + path + "\r\nRingside-Invalidate: /new?x\r\n",
        requests));
    told.push_back(invalidation(
        *settings, path, "Ringside-Invalidated: " + path + "\r\nRingside-Invalidated: /new?x\r\n",
        requests));
    // Without waiting: whoever has the answer finds nothing older anywhere.
    for (const auto* other : {&second, &third}) {
      EXPECT_EQ(invalidations(*other), asked);
      EXPECT_EQ(other->connections(), 1U);
    }
    EXPECT_EQ(invalidations(owner), told) << "it has forgotten it by itself";
  }
  EXPECT_TRUE(sidecar.will_count(2, Outcome::bypass, "cache-0"));
  EXPECT_EQ(failures(sidecar, "cache-1"), 0U);
  EXPECT_EQ(failures(sidecar, "cache-2"), 0U);
}

TEST(Invalidation, Rfc9111Section4Point4NothingIsAskedAfterSafeMethodsAndErrors) {
  for (const auto& [request, answer] :
       std::vector<std::pair<std::string, std::string>>{{support::get_request("/a"), created},
                                                        {post("/a", "", "OPTIONS"), created},
                                                        {post("/a", "x", "DELETE"), missing},
                                                        {post("/a", "x", "PUT"), missing}}) {
    const ScriptedPeer one(answering(answer));
    const ScriptedPeer two(answering(answer));
    SomeSidecar sidecar({one.address(), two.address()});
    EXPECT_TRUE(sidecar.ask(request).whole) << request;
    EXPECT_EQ(one.requests() + two.requests(), 1U) << request;
  }
}

TEST(Invalidation, Rfc9110Section9Point2Point1UnknownMethodsCountAsUnsafe) {
  const ScriptedPeer one(answering(created));
  const ScriptedPeer two(answering(created));
  SomeSidecar sidecar({one.address(), two.address()});
  EXPECT_EQ(sidecar.ask(post("/a", "x", "REFRESH")).status, 201);
  EXPECT_EQ(invalidations(one).size(), 1U);
  EXPECT_EQ(invalidations(two).size(), 1U);
}

TEST(Invalidation, ASilentReplicaHoldsTheAnswerUpForABoundedTimeAndIsCounted) {
  std::atomic<bool> read_of_owner{false};
  std::atomic<bool> read_of_alive{false};
  const ScriptedPeer owner(confirming(created, read_of_owner));
  const ScriptedPeer silent(answering(created, ""));
  const ScriptedPeer silent_too(answering(created, ""));
  const ScriptedPeer alive(confirming(created, read_of_alive));
  const auto settings =
      settings_for({owner.address(), silent.address(), silent_too.address(), alive.address()});
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(post(path_of(*settings, {0}), "x"));
  // All are asked while time stands still, and their timeouts run together. Time goes on when the
  // two that confirm were heard, or they would be late as well.
  ASSERT_TRUE(eventually([&] {
    return invalidations(silent).size() == 1 && invalidations(silent_too).size() == 1 &&
           read_of_owner && read_of_alive;
  }));
  // The answer is held back.
  EXPECT_EQ(sidecar.counted(Outcome::bypass, "cache-0"), 0U);
  sidecar.clock().advance(limits::invalidation_timeout + Milliseconds{100});
  EXPECT_EQ(client.read("POST").body, "made");
  EXPECT_EQ(failures(sidecar, "cache-0"), 0U);
  EXPECT_EQ(failures(sidecar, "cache-1"), 1U);
  EXPECT_EQ(failures(sidecar, "cache-2"), 1U);
  EXPECT_EQ(failures(sidecar, "cache-3"), 0U);
  EXPECT_EQ(sidecar.errors(ErrorSource::peer), 0U);  // nothing of the client's request
}

TEST(Invalidation, AStopDoesNotWaitForTheSilent) {
  const ScriptedPeer owner(answering(created));
  const ScriptedPeer silent(answering(created, ""));
  const auto settings = settings_for({owner.address(), silent.address()});
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(post(path_of(*settings, {0}), "x"));
  ASSERT_TRUE(eventually([&] { return invalidations(silent).size() == 1; }));
  sidecar->stop();
  EXPECT_FALSE(client.read("POST").whole);
}

TEST(Invalidation, WhoeverDoesNotSayWhatItRemovedHasNotConfirmed) {
  struct Row {
    const char* what;
    std::string answer;
    std::uint64_t failures;
  };
  for (const Row& row : std::vector<Row>{
           {"confirmed", confirmed, 0},
           {"nothing to remove", support::answer("200 OK", "Ringside-Purged: 0\r\n", ""), 0},
           {"with a body", support::answer("200 OK", "Ringside-Purged: 2\r\n", "two"), 0},
           {"an older replica", not_understood, 1},
           {"no number", support::answer("200 OK", "Ringside-Purged: all\r\n", ""), 1},
           {"a part of a number", support::answer("200 OK", "Ringside-Purged: 1x\r\n", ""), 1},
           {"refused", support::answer("403 Forbidden", "Ringside-Purged: 1\r\n", "no"), 1}}) {
    const ScriptedPeer owner(answering(created));
    const ScriptedPeer other(answering(created, row.answer));
    const auto settings = settings_for({owner.address(), other.address()});
    SomeSidecar sidecar(settings);
    auto client = sidecar.client();
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(client.ask(post(path_of(*settings, {0}), "x")).status, 201) << row.what;
    }
    EXPECT_EQ(failures(sidecar, "cache-1"), 2 * row.failures) << row.what;
    EXPECT_EQ(other.connections(), 1U) << row.what;  // Either answer leaves the connection usable.
  }
}

TEST(Invalidation, AReplicaThatIsGoneIsCountedAndCostsNoTime) {
  const ScriptedPeer owner(answering(created));
  const auto settings = settings_for({owner.address(), refusing_address()});
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  for (std::uint64_t requests = 1; requests <= 4; ++requests) {
    EXPECT_EQ(client.ask(post(path_of(*settings, {0}), "x")).status, 201);
    EXPECT_EQ(failures(sidecar, "cache-1"), requests);
  }
}

TEST(Invalidation, AfterAnOriginsOwnAnswerAllReplicasAreAsked) {
  // Both hang up on whatever is not an invalidation, so the origin is asked. PUT may be repeated.
  const auto invalidated_only = [](Stage& stage) {
    while (is_invalidation(stage.read_request())) stage.send(confirmed);
    stage.close();
  };
  const ScriptedPeer one(invalidated_only);
  const ScriptedPeer two(invalidated_only);
  const ScriptedPeer origin(answering(created));
  const auto settings = settings_for({one.address(), two.address()}, [&](Settings& change) {
    change.without_replica = WithoutReplica::ask_origin;
    change.routes[0].origins = {net::Origin{origin.address()}};
  });
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  EXPECT_EQ(client.ask("PUT /a HTTP/1.1\r\nHost: a.test\r\n\r\n").status, 201);
  const std::string asked = invalidation(
      *settings, "/a", "Ringside-Invalidate: /a\r\nRingside-Invalidate: /new?x\r\n", 1);
  EXPECT_EQ(invalidations(one), std::vector<std::string>{asked});
  EXPECT_EQ(invalidations(two), std::vector<std::string>{asked});
  EXPECT_EQ(invalidations(origin).size(), 0U);
}

// A route under /near/ whose answers are kept nearby; nothing else is.
void with_near_route(Settings& settings) {
  settings.routes = {route_of("near", "", "/near", "country,path"),
                     route_of("all", "", "/", "country,path")};
  settings.routes[0].near_ttl = Milliseconds{10'000};
}

// Any replica: the n-th answer to a GET has the body "n" and may be kept nearby; anything else made
// /near/b.
ScriptedPeer::Script numbering() {
  const auto answers = std::make_shared<std::atomic<int>>(0);
  return [=](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      if (is_invalidation(request)) {
        stage.send(confirmed);
      } else if (request.starts_with("GET")) {
        stage.send(hit_of("cache", std::to_string(++*answers), "Ringside-Near-Ttl-Ms: 10000\r\n"));
      } else {
        const bool elsewhere = target_of(request) == "/elsewhere";
        stage.send(support::answer(
            "201 Created", elsewhere ? "Location: /other\r\n" : "Location: /near/b\r\n", ""));
      }
    }
  };
}

TEST(Invalidation, Rfc9111Section4Point4TheNearCachesOfAllCoresForget) {
  const ScriptedPeer replica(numbering());
  SomeSidecar sidecar(settings_for({replica.address()}, with_near_route), 4);
  // The kernel deals connections out to the cores; so many meet all of them.
  std::vector<support::TestClient> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(sidecar.client());
  int newest = 0;
  for (auto& client : clients) newest = std::max(newest, std::stoi(client.get("/near/b").body));
  EXPECT_LE(newest, 8);  // each of the four cores keeps the second answer that it has
  // Of a route that keeps nothing nearby, nor does what it makes invalid.
  EXPECT_EQ(sidecar.ask(post("/elsewhere", "x")).status, 201);
  for (auto& client : clients) EXPECT_LE(std::stoi(client.get("/near/b").body), newest);
  // Of that route too, but the Location is not.
  EXPECT_EQ(sidecar.ask(post("/list", "x")).status, 201);
  for (auto& client : clients) EXPECT_GT(std::stoi(client.get("/near/b").body), newest);
}

// `//near/b` is under the rules of `/near`, and was looked for under those of `/`.
TEST(Invalidation, AnotherSpellingOfTheRouteLeftTheNearCacheAsItWas) {
  std::atomic<int> answers{0};
  const ScriptedPeer replica([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      if (is_invalidation(request)) {
        stage.send(confirmed);
      } else if (request.starts_with("GET")) {
        stage.send(hit_of("cache", std::to_string(++answers), "Ringside-Near-Ttl-Ms: 10000\r\n"));
      } else {
        stage.send(support::answer("200 OK", "", "done"));
      }
    }
  });
  SomeSidecar sidecar(settings_for({replica.address()}, with_near_route), 1);
  auto client = sidecar.client();
  EXPECT_EQ(client.get("//near/b").body, "1");
  EXPECT_EQ(client.get("//near/b").body, "2");
  EXPECT_EQ(client.get("//near/b").body, "2");
  EXPECT_EQ(client.ask(post("//near/b", "x")).body, "done");
  EXPECT_EQ(client.get("//near/b").body, "3");
}

TEST(Invalidation, TheNearCacheForgetsWhatAnotherReplicaSaidMeanwhile) {
  Gate confirm;
  const auto late = [&](Stage& stage) {
    while (true) {
      if (is_invalidation(stage.read_request())) {
        stage.wait(confirm);
        stage.send(confirmed);
      } else {
        stage.send(hit_of("cache", "old", "Ringside-Near-Ttl-Ms: 10000\r\n"));
      }
    }
  };
  std::string kept;  // a path of the other replica, which the owner of what is posted to names
  const ScriptedPeer owner([&](Stage& stage) {
    stage.read_request();
    stage.send(support::answer("201 Created", "Location: " + kept + "\r\n", ""));
  });
  const ScriptedPeer other(late);
  const auto settings = settings_for({owner.address(), other.address()}, [](Settings& change) {
    change.routes[0].near_ttl = Milliseconds{10'000};
  });
  SomeSidecar sidecar(settings);
  kept = path_of(*settings, {1});
  auto poster = sidecar.client();
  poster.send(post(path_of(*settings, {0}), "x"));
  ASSERT_TRUE(eventually([&] { return invalidations(other).size() == 1; }));
  EXPECT_EQ(sidecar.get(kept).body, "old");
  EXPECT_EQ(sidecar.get(kept).body, "old");  // It is kept nearby, and was given before the answer.
  EXPECT_EQ(sidecar.get(kept).body, "old");
  EXPECT_EQ(other.requests(), 3U);
  confirm.open();
  EXPECT_EQ(poster.read("POST").status, 201);
  EXPECT_EQ(sidecar.get(kept).body, "old");
  EXPECT_EQ(other.requests(), 4U);  // asked again
}

// `FOO` evicted a URL on every replica as often as anybody liked.
TEST(Invalidation, ByMethodsThatNobodyKnowsIsBoundedForEachClient) {
  ScriptedPeer replica(answering(created));
  SomeSidecar sidecar({replica.address()});
  const auto ask = [&](const std::string& method) {
    return sidecar.ask(method + " / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n");
  };
  for (unsigned i = 0; i < limits::rare_methods_burst; ++i) EXPECT_EQ(ask("FOO").status, 201);
  const auto refused = ask("BAR");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.field("retry-after"), "1");
  EXPECT_EQ(ask("POST").status, 201);
  EXPECT_EQ(replica.requests(), limits::rare_methods_burst + 1U);
  sidecar.clock().advance(Milliseconds{1'000});
  EXPECT_EQ(ask("FOO").status, 201);
}

}  // namespace
}  // namespace ringside::sidecar
