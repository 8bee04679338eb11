#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// The replica that owns a request dies at each step of it in turn, and comes back as a new process
// with an empty store; so do the others on its way. First the request is watched undisturbed and
// its steps are counted; then it is repeated, from the same seed, once for each.

namespace ringside::simulation {
namespace {

struct Way {
  std::string_view name;
  std::string_view prefix;  // of the target
  std::size_t least_bytes;
  std::size_t most_bytes;
  bool is_stored_before = false;
  bool is_post = false;
  std::size_t clients = 1;  // who ask for it at once
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

constexpr Way ways[] = {
    {.name = "Miss", .prefix = "page", .least_bytes = 8'000, .most_bytes = 12'000},
    {.name = "Hit",
     .prefix = "page",
     .least_bytes = 8'000,
     .most_bytes = 12'000,
     .is_stored_before = true},
    {.name = "NotStored", .prefix = "unstored/page", .least_bytes = 8'000, .most_bytes = 12'000},
    {.name = "MissOfThree",
     .prefix = "page",
     .least_bytes = 8'000,
     .most_bytes = 12'000,
     .clients = 3},
    {.name = "Post", .prefix = "page", .least_bytes = 0, .most_bytes = 12'000, .is_post = true},
};

// What strikes it: it is gone, and who is connected is told; or nobody is told anything.
// Or another process of its way dies in the owner's place.
enum class Blow { dies, freezes, is_cut_off, origin_dies, sidecar_dies };

// One request, from a seed, with a tier of its own.
class Trial {
 public:
  Trial(std::uint64_t seed, const Way& way)
      : way_(way),
        target_(target_of(way.prefix, way.least_bytes, way.most_bytes)),
        world_(seed),
        tier_(world_, {.replicas = 3, .sidecars = 1, .cores = 2}),
        client_(world_, "client") {
    const auto told = client_.get(tier_.address(), target_);
    owner_ = tier_.named_in(told.reply.field("cache-status"));
    RINGSIDE_CHECK(owner_ < tier_.replicas());
    if (!way.is_stored_before)
      tier_.replica(owner_).purge({.host = "a.test", .path_and_query = target_});
    RINGSIDE_CHECK(world_.run_until_quiet(scene_patience));
    steps_before_ = world_.steps();
    sent_before_ = world_.network().sent_by(owner().host);
    for (std::size_t i = 0; i < way.clients; ++i) {
      asked_.push_back(client_.begin(tier_.address(),
                                     way.is_post ? post_request(target_) : get_request(target_)));
    }
  }

  void strike_at_step(Blow blow, std::uint64_t step) {
    RINGSIDE_CHECK(
        world_.run_until([&] { return world_.steps() >= steps_before_ + step; }, scene_patience));
    blow_ = blow;
    if (blow == Blow::dies) tier_.crash_replica(owner_);
    if (blow == Blow::freezes) world_.freeze(owner());
    if (blow == Blow::is_cut_off) world_.network().isolate(owner().host);
    if (blow == Blow::origin_dies) tier_.origin().crash();
    if (blow == Blow::sidecar_dies) tier_.crash_sidecar(0);
  }
  // In the middle of a turn.
  void die_having_sent(std::uint64_t things) {
    world_.network().let_die_after(owner().host, things);
    world_.at_end_of_turn([this](const World::Machine&, net::Core&) {
      if (tier_.has_replica(owner_) && world_.network().has_died(owner().host)) {
        tier_.crash_replica(owner_);
      }
    });
  }
  void finish() {
    const auto all_told = [&] {
      return std::all_of(asked_.begin(), asked_.end(), [](const auto& one) { return one->done; });
    };
    ASSERT_TRUE(world_.run_until(all_told, scene_patience));
    for (const auto& one : asked_) judge(one->reply);
    EXPECT_LE(tier_.origin().others(target_), 1U) << "a POST was repeated";
  }
  // Whatever it was, the tier is well again when the replica is back.
  void recover() {
    world_.run_for(Milliseconds{world_.random().below(700)});
    if (blow_ == Blow::freezes) world_.thaw(owner());
    if (blow_ == Blow::is_cut_off) {
      world_.network().rejoin(owner().host);
      // A fetch of before waits still for a connection that was lost, and others would join it.
      world_.run_for(limits::connect_timeout);
    }
    if (blow_ == Blow::dies && tier_.has_replica(owner_)) tier_.crash_replica(owner_);
    if (blow_ == Blow::dies) tier_.start_replica(owner_);
    if (blow_ == Blow::origin_dies) tier_.origin().start();
    if (blow_ == Blow::sidecar_dies) tier_.start_sidecar(0);
    for (int i = 0; i < 2; ++i) {
      const auto reply = client_.get(tier_.address(), target_).reply;
      EXPECT_EQ(reply.status, 200);
      EXPECT_TRUE(reply.body == body_of(target_));
    }
    EXPECT_TRUE(world_.run_until([&] { return tier_.flights() == 0; }, scene_patience));
  }

  [[nodiscard]] std::uint64_t steps() const { return world_.steps() - steps_before_; }
  [[nodiscard]] std::uint64_t sent_by_owner() {
    return world_.network().sent_by(owner().host) - sent_before_;
  }

 private:
  World::Machine& owner() { return tier_.replica_machine(owner_); }

  // By docs/failure-modes.md: nothing is noticed, but that what had begun is cut, or is told 502
  // or 504 where it had begun within a head; and so is what may not be repeated.
  void judge(const support::Reply& reply) {
    if (reply.status == 0 && blow_ == Blow::sidecar_dies) return;  // who should tell him?
    if (reply.status == 502 || reply.status == 504) return judge_error(reply);
    EXPECT_EQ(reply.status, 200);
    const std::string right = way_.is_post ? "done\n" : body_of(target_);
    EXPECT_TRUE(reply.body == right.substr(0, reply.body.size()));
    EXPECT_EQ(reply.whole, reply.body.size() == right.size());
    EXPECT_EQ(tier_.origin().others(target_), way_.is_post ? 1U : 0U);
  }

  void judge_error(const support::Reply& reply) {
    const std::string why = reply.field("proxy-status");
    const bool says_that_it_ended = why.find("error=connection_terminated") != why.npos;
    const bool says_that_it_waited = why.find("error=http_response_timeout") != why.npos;
    const bool nobody_came_in_its_place = way_.is_post || why.find("given up") != why.npos;
    EXPECT_TRUE(reply.whole);
    if (blow_ == Blow::origin_dies) {
      EXPECT_FALSE(way_.is_stored_before);
      EXPECT_TRUE(says_that_it_ended || why.find("error=connection_refused") != why.npos) << why;
    } else if (reply.status == 504) {
      EXPECT_TRUE(blow_ != Blow::dies && says_that_it_waited && nobody_came_in_its_place) << why;
    } else {
      EXPECT_TRUE(says_that_it_ended) << why;
    }
  }

  const Way way_;
  const std::string target_;
  World world_;
  SimulatedTier tier_;
  SimulatedClient client_;
  std::size_t owner_ = 0;
  Blow blow_ = Blow::dies;
  std::uint64_t steps_before_ = 0;
  std::uint64_t sent_before_ = 0;
  std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked_;
};

class ReplicaDeath : public testing::TestWithParam<Way> {};

// Of the request undisturbed.
struct Extent {
  std::uint64_t steps = 0;
  std::uint64_t sent_by_owner = 0;
};

Extent extent_of(std::uint64_t seed, const Way& way) {
  Trial undisturbed(seed, way);
  undisturbed.finish();
  return {undisturbed.steps(), undisturbed.sent_by_owner()};
}

void strike_at_each_step(Blow blow, const Way& way) {
  for (const std::uint64_t seed : seeds(1)) {
    const std::uint64_t steps = extent_of(seed, way).steps;
    ASSERT_GT(steps, 10U);
    for (std::uint64_t step = 0; step <= steps; ++step) {
      SCOPED_TRACE(fmt::format("{}, step {}", shown(seed), step));
      Trial trial(seed, way);
      trial.strike_at_step(blow, step);
      trial.finish();
      trial.recover();
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST_P(ReplicaDeath, AtEachStepOfARequest) { strike_at_each_step(Blow::dies, GetParam()); }
TEST_P(ReplicaDeath, FrozenAtEachStepOfARequest) { strike_at_each_step(Blow::freezes, GetParam()); }
TEST_P(ReplicaDeath, CutOffAtEachStepOfARequest) {
  strike_at_each_step(Blow::is_cut_off, GetParam());
}

TEST_P(ReplicaDeath, OfTheOriginInItsPlace) { strike_at_each_step(Blow::origin_dies, GetParam()); }
TEST_P(ReplicaDeath, OfTheSidecarInItsPlace) {
  strike_at_each_step(Blow::sidecar_dies, GetParam());
}

TEST_P(ReplicaDeath, AfterEachThingThatItSends) {
  for (const std::uint64_t seed : seeds(1)) {
    const std::uint64_t sent = extent_of(seed, GetParam()).sent_by_owner;
    ASSERT_GT(sent, 1U);
    for (std::uint64_t things = 0; things <= sent; ++things) {
      SCOPED_TRACE(fmt::format("{}, after {} things", shown(seed), things));
      Trial trial(seed, GetParam());
      trial.die_having_sent(things);
      trial.finish();
      trial.recover();
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ReplicaDeath, testing::ValuesIn(ways),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace ringside::simulation
