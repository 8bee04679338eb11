#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// What docs/failure-modes.md says of clients that vanish, or are slow, in simulated time.

namespace ringside::simulation {
namespace {

// Others ask meanwhile, and are not to notice.
struct ClientScene {
  explicit ClientScene(std::uint64_t seed)
      : world(seed),
        tier(world, {.replicas = 2, .cores = 2}),
        others(world, "others", tier.addresses(), some_targets(world.random(), "page", 100, 20), 2),
        client(world, "client"),
        with_reset(world.random().one_in(2)) {}

  // Runs until the script has ended, and what it left behind is gone.
  void expect_over(const std::shared_ptr<const bool>& ended) {
    EXPECT_TRUE(world.run_until([&] { return *ended; }, scene_patience));
    EXPECT_TRUE(world.run_until([&] { return others.all_answered(); }, scene_patience));
    EXPECT_EQ(others.wrong(), std::vector<std::string>());
    EXPECT_EQ(others.repeats(), 0U);
    EXPECT_TRUE(world.run_until(
        [&] { return tier.sidecar().sheet().totals().of("ringside_connections") <= 2; },
        scene_patience))
        << "a connection is left, beside those of the others";
    EXPECT_TRUE(world.run_until([&] { return tier.flights() == 0; }, scene_patience));
  }
  void vanish(http::Connection& connection) const {
    if (with_reset) connection.reset_on_close();
  }

  World world;
  SimulatedTier tier;
  SimulatedClients others;
  SimulatedClient client;
  const bool with_reset;
};

TEST(SimulationOfClient, ThatVanishesWithinAHeadLeavesNothingBehind) {
  for (const std::uint64_t seed : seeds(6)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    scene.expect_over(
        scene.client.play(scene.tier.address(), [&](http::Connection& connection) -> Task<void> {
          co_await send(connection, "GET /half HTTP/1.1\r\nHost: a.t");
          co_await pause(connection, Milliseconds{50});
          scene.vanish(connection);
        }));
    EXPECT_EQ(scene.tier.origin().fetches("/half"), 0U);
  }
}

TEST(SimulationOfClient, ThatVanishesWithinABodyIsNeverTakenForWhole) {
  for (const std::uint64_t seed : seeds(6)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    const std::string framing =
        seed % 4 < 2 ? "Content-Length: 20000" : "Transfer-Encoding: chunked";
    scene.expect_over(
        scene.client.play(scene.tier.address(), [&](http::Connection& connection) -> Task<void> {
          co_await send(connection, "POST /half HTTP/1.1\r\nHost: a.test\r\n" + framing +
                                        "\r\n\r\n2710\r\n" + std::string(5'000, 'x'));
          co_await pause(connection, Milliseconds{100});
          scene.vanish(connection);
        }));
    scene.world.run_for(Milliseconds{100});
    EXPECT_EQ(scene.tier.origin().others("/half"), 0U);
    EXPECT_EQ(scene.tier.origin().cut_requests(), 1U);
  }
}

TEST(SimulationOfClient, ThatVanishesWhileItsAnswerIsWaitedForLeavesNothingBehind) {
  for (const std::uint64_t seed : seeds(6)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    ASSERT_TRUE(scene.world.run_until([&] { return scene.others.all_answered(); }, scene_patience));
    scene.tier.origin().behave(Manner::late, Milliseconds{5'000});
    scene.expect_over(
        scene.client.play(scene.tier.address(), [&](http::Connection& connection) -> Task<void> {
          co_await send(connection, get_request("/slow"));
          co_await pause(connection, Milliseconds{1'000});
          scene.vanish(connection);
        }));
    EXPECT_EQ(scene.client.get(scene.tier.address(), "/slow").reply.status, 200);
  }
}

// Nothing is fetched for nobody; but a fetch that others wait for, or that will be stored, goes on.
TEST(SimulationOfClient, ThatVanishesWithinAnAnswerDoesNotCostTheOthersTheirs) {
  for (const std::uint64_t seed : seeds(6)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    const std::string target =
        target_of(seed % 2 == 0 ? "large" : "unstored/large", 300'000, 300'000);
    const auto ended =
        scene.client.play(scene.tier.address(), [&](http::Connection& connection) -> Task<void> {
          co_await send(connection, get_request(target));
          co_await connection.read_raw();
          scene.vanish(connection);
        });
    SimulatedClient second(scene.world, "second");
    const auto whole = second.begin(scene.tier.address(), get_request(target));
    scene.expect_over(ended);
    ASSERT_TRUE(scene.world.run_until([&] { return whole->done; }, scene_patience));
    EXPECT_EQ(whole->reply.status, 200);
    EXPECT_TRUE(whole->reply.body == body_of(target));
    EXPECT_LE(scene.tier.origin().fetches(target), seed % 2 == 0 ? 1U : 2U);
  }
}

TEST(SimulationOfClient, ThatSendsAPartOfAHeadIsToldAfterTenSeconds) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    const auto asked =
        scene.client.ask(scene.tier.address(), "GET /half HTTP/1.1\r\nHost: a.test\r\nX-Slow: ");
    EXPECT_EQ(asked.reply.status, 408);
    EXPECT_GE(asked.took(), by_a_fast_clock(limits::client_head_timeout));
    EXPECT_LT(asked.took(), limits::client_head_timeout + slack);
  }
}

// A client that sends such pieces of a body, with a pause between, until it is answered.
struct TricklingUpload {
  std::string head;
  std::string piece;
  Milliseconds pause_between;
  Milliseconds took{0};

  void play(ClientScene& scene) {
    const Instant began = scene.world.now();
    Instant told = began;
    scene.expect_over(
        scene.client.play(scene.tier.address(), [&](http::Connection& connection) -> Task<void> {
          co_await send(connection, head);
          while (!connection.anything_arrived()) {
            if (!co_await send(connection, piece)) break;
            co_await pause(connection, pause_between);
          }
          http::ResponseHead answer;
          const auto read =
              co_await connection.read_response(http::HeadLimits::defaults(), "POST", answer);
          EXPECT_TRUE(read) << (read ? "" : read.error().message);
          EXPECT_EQ(answer.status, 408) << answer.fields.combined("proxy-status").value_or("");
          EXPECT_EQ(answer.fields.combined("connection"), "close");
          told = scene.world.now();
        }));
    took = std::chrono::duration_cast<Milliseconds>(told - began);
    EXPECT_EQ(scene.tier.origin().others("/slow"), 0U);
  }
};

std::string upload_head(const std::string& framing) {
  return "POST /slow HTTP/1.1\r\nHost: a.test\r\n" + framing + "\r\n\r\n";
}

TEST(SimulationOfClient, ThatSendsABodyByTheByteIsToldSo) {
  for (const std::uint64_t seed : seeds(4)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    const std::string head = seed % 2 == 0
                                 ? upload_head("Content-Length: 100000")
                                 : upload_head("Transfer-Encoding: chunked") + "10000\r\n";
    TricklingUpload upload{head, "x", Milliseconds{500}};
    upload.play(scene);
    EXPECT_GE(upload.took, by_a_fast_clock(limits::client_rate_grace));
    EXPECT_LT(upload.took, limits::client_rate_grace + Milliseconds{2'000});
  }
}

// It is fast enough for the other rule; the length that it declares would take it four hours.
TEST(SimulationOfClient, ThatUploadsSlowlyHoldsNoPlaceForLong) {
  for (const std::uint64_t seed : seeds(4)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    const bool chunked = seed % 2 != 0;
    const std::string piece(300, 'x');
    TricklingUpload upload{
        upload_head(chunked ? "Transfer-Encoding: chunked" : "Content-Length: 4000000"),
        chunked ? "12c\r\n" + piece + "\r\n" : piece, Milliseconds{1'000}};
    upload.play(scene);
    EXPECT_GE(upload.took, by_a_fast_clock(limits::upload_grace));
    EXPECT_LT(upload.took, 2 * limits::upload_grace);
  }
}

TEST(SimulationOfClient, ThatTakesNothingIsCutAndOneThatTakesLittleIsServed) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    const std::string target = target_of("large", 300'000, 300'000);
    scene.expect_over(
        scene.client.play(scene.tier.address(), [&](http::Connection& connection) -> Task<void> {
          co_await send(connection, get_request(target));
          co_await pause(connection, limits::client_io_timeout + Milliseconds{12'000});
          std::size_t came = 0;
          while (true) {
            const auto piece = co_await connection.read_raw();
            if (!piece) break;
            EXPECT_FALSE(piece->empty()) << "it must not look whole";
            if (piece->empty()) break;
            came += piece->size();
          }
          EXPECT_LT(came, 300'000U);
        }));
    scene.expect_over(
        scene.client.play(scene.tier.address(), [&](http::Connection& connection) -> Task<void> {
          co_await send(connection, get_request(target));
          http::ResponseHead head;
          const auto read =
              co_await connection.read_response(http::HeadLimits::defaults(), "GET", head);
          EXPECT_TRUE(read && head.status == 200);
          std::size_t came = 0;
          while (!connection.body_done()) {
            connection.set_deadline(scene_patience);
            const auto piece = co_await connection.read_body();
            EXPECT_TRUE(piece);
            if (!piece) break;
            came += piece->size();
            // 5 KB a second, for longer than one that takes nothing is given.
            co_await pause(connection, Milliseconds{piece->size() / 5});
          }
          EXPECT_EQ(came, 300'000U);
        }));
    EXPECT_EQ(scene.tier.origin().fetches(target), 1U);
  }
}

TEST(SimulationOfClient, WhoIsAnsweredWhileTheSidecarDrainsGetsAllOfIt) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    ClientScene scene(seed);
    ASSERT_TRUE(scene.world.run_until([&] { return scene.others.all_answered(); }, scene_patience));
    const std::string target = target_of("large", 300'000, 300'000);
    scene.tier.origin().behave(Manner::late, Milliseconds{5'000});
    const auto asked = scene.client.begin(scene.tier.address(), get_request(target));
    scene.world.run_for(Milliseconds{1'000});
    scene.tier.sidecar().drain();
    EXPECT_EQ(scene.client.get(scene.tier.address(), "/page-1").reply.status, 0);
    ASSERT_TRUE(scene.world.run_until([&] { return asked->done; }, scene_patience));
    EXPECT_TRUE(asked->reply.whole);
    EXPECT_TRUE(asked->reply.body == body_of(target));
    EXPECT_EQ(asked->reply.field("connection"), "close");
    EXPECT_TRUE(scene.world.run_until([&] { return scene.tier.sidecar().open_connections() == 0; },
                                      scene_patience));
  }
}

}  // namespace
}  // namespace ringside::simulation
