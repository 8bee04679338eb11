#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "base/check.h"
#include "tests/model/trial.h"
#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// The histories of tests/model/ through a whole tier: what a client is told by one sidecar or the
// other, whichever replica and core has it, is what the model of RFC 9111 allows one cache.

namespace ringside::simulation {
namespace {

constexpr std::size_t steps = 30;
constexpr Milliseconds step_most{500};

// What becomes of the tier meanwhile. grows: once; restarts: now and then a process between two
// requests, so that nobody is asked in its place; moves: members come and go now and then, and what
// is stored moves between them.
enum class Change { grows, restarts, moves };

class TierOfModel final : public model::Subject {
 public:
  TierOfModel(std::uint64_t seed, model::Origin& origin, Change change)
      : origin_(origin),
        change_(change),
        world_(seed, World::Clocks::in_seconds),
        origin_machine_(world_.add_machine("origin")),
        server_(world_, origin_machine_,
                [this](http::Connection& connection) { return serve(connection); }),
        tier_(world_,
              {.replicas = 3, .sidecars = 2, .cores = 2, .knows_peers = change == Change::moves},
              port_of(origin_machine_)),
        client_(world_, "client"),
        grows_at_(world_.random().below(2 * steps)) {
    // A step is over within the second in which it began.
    world_.network().set_slow_one_in(0);
  }

  [[nodiscard]] TimePoint now() override { return client_.machine().clock.now(); }
  void pass(Seconds time) override {
    const auto whole = std::chrono::floor<Seconds>(world_.now());
    world_.skip(std::chrono::ceil<Milliseconds>(whole + time - world_.now()));
    come_to_rest();
  }
  [[nodiscard]] support::Reply ask(const std::string& request) override {
    if (change_ == Change::restarts && world_.random().one_in(8)) restart_one();
    if (change_ == Change::grows && asked_++ == grows_at_) grow();
    if (change_ == Change::moves && world_.random().one_in(4)) change_members();
    return client_.ask(tier_.address(world_.random().below(tier_.sidecars())), request).reply;
  }
  void settle(const model::Reply&) override {
    come_to_rest();
    RINGSIDE_CHECK(tier_.flights() == 0);
    const auto fraction = world_.now() - std::chrono::floor<Seconds>(world_.now());
    RINGSIDE_CHECK(fraction < Seconds{1} - step_most / 4);
    if (fraction > step_most) pass(Seconds{1});
  }

 private:
  void grow() {
    tier_.grow();
    for (std::size_t index = 0; index < tier_.sidecars(); ++index) tier_.publish(index);
  }
  // One comes, or another one goes. Not all may have heard of it when the next request comes.
  void change_members() {
    if (tier_.replicas() < 6 && world_.random().below(2) == 0) {
      tier_.grow();
    } else if (removed_ + 1 < tier_.replicas()) {
      tier_.remove(removed_++);
    }
    for (std::size_t index = 0; index < tier_.replicas(); ++index) tier_.tell_replica(index);
    tier_.publish(world_.random().below(tier_.sidecars()));
  }
  void restart_one() {
    const std::size_t one = world_.random().below(tier_.replicas() + tier_.sidecars());
    if (one < tier_.replicas()) {
      tier_.crash_replica(one);
      tier_.start_replica(one);
    } else {
      tier_.crash_sidecar(one - tier_.replicas());
      tier_.start_sidecar(one - tier_.replicas());
    }
    come_to_rest();
  }

  // After a while in which nobody did anything connections are closed that were idle for too long.
  void come_to_rest() {
    world_.run_for(3 * limits::deadline_tick);
    RINGSIDE_CHECK(world_.run_until_quiet(scene_patience));
  }

  Task<void> serve(http::Connection& connection) {
    connection.lift_rate();  // it is no business of an origin's
    http::RequestHead request;
    while (true) {
      connection.set_deadline(limits::client_idle_timeout);
      const auto begun = co_await connection.wait_for_message();
      if (!begun || !*begun) co_return;
      if (!co_await connection.read_request(http::HeadLimits::defaults(), request)) co_return;
      std::string head = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
      for (const http::Field& field : request.fields) {
        head += fmt::format("{}: {}\r\n", field.name, field.value);
      }
      head += "\r\n";
      while (!connection.body_done()) {
        if (!co_await connection.read_body()) co_return;
      }
      const auto said = origin_.answer(head);
      if (!co_await send(connection, said.bytes) || said.end) co_return;
    }
  }

  model::Origin& origin_;
  const Change change_;
  World world_;
  World::Machine& origin_machine_;
  SimulatedServer server_;
  SimulatedTier tier_;
  SimulatedClient client_;
  const std::uint64_t grows_at_;
  std::uint64_t asked_ = 0;
  std::size_t removed_ = 0;  // members, the first of all
};

model::Trial play(std::uint64_t seed, Change change, const model::History& history) {
  model::Origin origin;
  TierOfModel tier(seed, origin, change);
  return model::play(history, origin, tier);
}

// Of what could be reused at least so much is.
void play_all(Change change, std::size_t least_percent) {
  std::size_t could_reuse = 0;
  std::size_t reused = 0;
  for (const std::uint64_t seed : seeds(100)) {
    const auto history = model::make_history(seed, steps);
    const auto trial = play(seed, change, history);
    could_reuse += trial.could_reuse;
    reused += trial.reused;
    if (trial.objection.empty()) continue;
    const auto play_one = [&](const model::History& one) { return play(seed, change, one); };
    ADD_FAILURE() << shown(seed) << ": " << trial.objection << "\n"
                  << play_one(model::shrunk(history, play_one)).text;
    return;
  }
  testing::Test::RecordProperty("could_reuse", std::to_string(could_reuse));
  testing::Test::RecordProperty("reused", std::to_string(reused));
  // Who stores nothing is never wrong, and of no use. Of few histories it would tell nothing.
  if (could_reuse < 300) return;
  EXPECT_GE(reused * 100, could_reuse * least_percent) << reused << " of " << could_reuse;
}

TEST(SimulationOfModel, Rfc9111EveryAnswerOfATierThatGrowsIsOneThatTheModelAllows) {
  play_all(Change::grows, 85);
}

TEST(SimulationOfModel, Rfc9111EveryAnswerOfATierWhoseProcessesRestartIsOneThatTheModelAllows) {
  play_all(Change::restarts, 70);
}

TEST(SimulationOfModel, Rfc9111EveryAnswerOfATierWhoseBucketsMoveIsOneThatTheModelAllows) {
  play_all(Change::moves, 85);
}

// A newcomer remembered purges for longer than the others. The only member awaited a number that a
// sidecar without other replicas does not tell. Requests took two seconds, which the Age shows.
TEST(SimulationOfModel, Rfc9111WhatWasFoundOnceIsMended) {
  for (const std::uint64_t seed : {54U, 1'099U}) {
    const auto trial = play(seed, Change::moves, model::make_history(seed, steps));
    EXPECT_EQ(trial.objection, "") << shown(seed);
  }
}

}  // namespace
}  // namespace ringside::simulation
