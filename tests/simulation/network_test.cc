#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// That the network is one: what TCP does, and what it does not promise.

namespace ringside::simulation {
namespace {

// A server that a test leads as it leads its client.
struct Pair {
  explicit Pair(std::uint64_t seed, http::Server::Session session)
      : world(seed),
        machine(world.add_machine("server")),
        server(world, machine, std::move(session)),
        client(world, "client") {}

  void play(SimulatedClient::Script script) {
    const auto ended = client.play(port_of(machine), std::move(script));
    EXPECT_TRUE(world.run_until([&] { return *ended; }, scene_patience));
  }

  World world;
  World::Machine& machine;
  SimulatedServer server;
  SimulatedClient client;
};

// All until the end; false: it was a reset.
Task<bool> read_all(http::Connection& connection, std::string& into, std::size_t& reads) {
  while (true) {
    connection.set_deadline(scene_patience);
    const auto piece = co_await connection.read_raw();
    if (!piece || piece->empty()) co_return piece.has_value();
    into += *piece;
    ++reads;
  }
}

std::string some_bytes(std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) bytes += fmt::format("{} ", bytes.size());
  bytes.resize(count);
  return bytes;
}

TEST(SimulatedNetwork, BytesArriveInPiecesInOrderAndEachHalfEndsForItself) {
  for (const std::uint64_t seed : seeds(5)) {
    SCOPED_TRACE(shown(seed));
    const std::string question = some_bytes(200'000), answer = some_bytes(100'000);
    std::string heard, told;
    std::size_t reads = 0;
    Pair pair(seed, [&](http::Connection& connection) -> Task<void> {
      EXPECT_TRUE(co_await read_all(connection, heard, reads));
      EXPECT_TRUE(co_await send(connection, answer));
    });
    pair.play([&](http::Connection& connection) -> Task<void> {
      EXPECT_TRUE(co_await send(connection, question));
      connection.shutdown_send();
      EXPECT_TRUE(co_await read_all(connection, told, reads));
    });
    EXPECT_TRUE(heard == question);
    EXPECT_TRUE(told == answer);
    EXPECT_GT(reads, 2U);
  }
}

TEST(SimulatedNetwork, WhoIsNotReadFromHasToWait) {
  Pair pair(1, [](http::Connection& connection) -> Task<void> {
    co_await pause(connection, Milliseconds{1'000});
    std::string all;
    std::size_t reads = 0;
    co_await read_all(connection, all, reads);
    EXPECT_EQ(all.size(), 200'000U);
  });
  pair.play([&](http::Connection& connection) -> Task<void> {
    co_await send(connection, some_bytes(200'000));
    EXPECT_GE(pair.world.now(), by_a_fast_clock(Milliseconds{1'000}));
  });
  pair.world.run_for(Milliseconds{100});
}

TEST(SimulatedNetwork, WhatIsSentOverACutArrivesWhenItIsHealedAndTheOtherWayIsOpen) {
  for (const std::uint64_t seed : seeds(5)) {
    SCOPED_TRACE(shown(seed));
    std::string heard, told;
    std::size_t reads = 0;
    Pair pair(seed, [&](http::Connection& connection) -> Task<void> {
      co_await pause(connection, Milliseconds{100});
      co_await send(connection, "said meanwhile");
      connection.shutdown_send();
      EXPECT_TRUE(co_await read_all(connection, heard, reads));
    });
    const SimulatedHost& client = pair.client.machine().host;
    const auto ended =
        pair.client.play(port_of(pair.machine), [&](http::Connection& connection) -> Task<void> {
          co_await pause(connection, Milliseconds{80});  // the server knows of it
          pair.world.network().cut(client, pair.machine.host);
          co_await send(connection, "held up");
          EXPECT_TRUE(co_await read_all(connection, told, reads));
        });
    pair.world.run_for(Milliseconds{5'000});
    EXPECT_EQ(told, "said meanwhile");
    EXPECT_EQ(heard, "");
    pair.world.network().heal(client, pair.machine.host);
    pair.world.run_for(Milliseconds{100});
    EXPECT_TRUE(*ended);
    EXPECT_EQ(heard, "held up");
  }
}

TEST(SimulatedNetwork, AResetOvertakesNothingAndBothAreTold) {
  for (const std::uint64_t seed : seeds(5)) {
    SCOPED_TRACE(shown(seed));
    std::size_t told = 0;
    Pair pair(seed, [&](http::Connection& connection) -> Task<void> {
      std::string heard;
      std::size_t reads = 0;
      told += co_await read_all(connection, heard, reads) ? 0U : 1U;
      EXPECT_EQ(heard, "something");
    });
    pair.play([&](http::Connection& connection) -> Task<void> {
      co_await send(connection, "something");
      pair.world.network().reset_between(pair.client.machine().host, pair.machine.host);
      std::string heard;
      std::size_t reads = 0;
      told += co_await read_all(connection, heard, reads) ? 0U : 1U;
    });
    pair.world.run_for(Milliseconds{100});
    EXPECT_EQ(told, 2U);
  }
}

TEST(SimulatedNetwork, WhereNobodyListensConnectionsAreRefusedAndWhereAllIsCutTheyTimeOut) {
  World world(1);
  World::Machine& machine = world.add_machine("server");
  SimulatedClient client(world, "client");
  EXPECT_LT(client.get(port_of(machine), "/").took(), Milliseconds{100});
  world.network().isolate(machine.host);
  EXPECT_GT(client.get(port_of(machine), "/").took(), limits::request_deadline);
}

// As SO_REUSEPORT does it: each connection comes to one of the cores, whichever.
TEST(SimulatedNetwork, ConnectionsAreSharedAmongTheCoresWhoListen) {
  World world(1);
  World::Machine& machine = world.add_machine("server");
  net::CoreGroup cores("server", 3, machine.clock, machine.host);
  std::set<std::size_t> served;
  http::Server server(cores, [&](http::Connection& connection) -> Task<void> {
    served.insert(connection.core().index());
    co_return;
  });
  ASSERT_TRUE(server.listen(port_of(machine)));
  cores.start_without_threads();
  world.run_on(machine, cores);
  SimulatedClient client(world, "client");
  for (int count = 0; count < 30; ++count) client.get(port_of(machine), "/");
  EXPECT_EQ(served.size(), 3U);
  cores.stop();
}

TEST(SimulatedClock, NoTwoMachinesAgreeOnTheHourOrOnHowLongASecondIs) {
  World world(1);
  const World::Machine& one = world.add_machine("one");
  const World::Machine& other = world.add_machine("other");
  const SteadyPoint one_began = one.clock.steady_now(), other_began = other.clock.steady_now();
  EXPECT_NE(one.clock.now(), other.clock.now());
  world.skip(Seconds{100'000});
  EXPECT_NE(one.clock.steady_now() - one_began, other.clock.steady_now() - other_began);
}

}  // namespace
}  // namespace ringside::simulation
