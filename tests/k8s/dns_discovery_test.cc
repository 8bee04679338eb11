#include "k8s/dns_discovery.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/name_server.h"
#include "tests/support/raw_socket.h"
#include "tests/support/scripted_peer.h"

namespace ringside::k8s {
namespace {

using support::NameReply;
using support::NameServer;
using support::NameType;
using ReplyKind = NameReply::Kind;

const std::string service = "_http._tcp.c.test";

std::string text(const Roster& roster) {
  std::string out;
  for (const Replica& replica : roster.replicas) {
    out += out.empty() ? "" : " ";
    out += replica.ready ? fmt::format("{}@{}", replica.name, replica.address.text())
                         : fmt::format("({})", replica.name);
  }
  return out;
}

// c-0 to c-(n-1) of c.test, at 10.0.0.1 and so on.
NameReply pods(unsigned count, bool with_addresses = true) {
  NameReply reply;
  for (unsigned i = 0; i < count; ++i) {
    const std::string name = fmt::format("c-{}.c.test", i);
    reply.records.push_back({name, 30, 8080});
    if (with_addresses) reply.additional.push_back({fmt::format("10.0.0.{}", i + 1), 30, 0, name});
  }
  return reply;
}

DnsPace quick() {
  DnsPace pace;
  pace.interval_least = Milliseconds{1};
  pace.interval_most = Milliseconds{5};
  pace.round_most = Milliseconds{3'600'000};  // by the tests' clock, which they move
  return pace;
}

class Watching {
 public:
  // It asks at once; `replies` are there before.
  explicit Watching(const DnsTarget& target, DnsPace pace = quick(), std::string resolv_conf = {},
                    const std::map<std::string, NameReply>& replies = {}) {
    for (const auto& [name, reply] : replies) server.set(name, reply);
    discovery_ = watch_dns(
        target, clock,
        [this](const Roster& roster) {
          const std::lock_guard lock(mutex_);
          rosters_.push_back(text(roster));
        },
        DnsOptions{server.address(), std::move(resolv_conf), pace});
  }

  [[nodiscard]] std::vector<std::string> rosters() const {
    const std::lock_guard lock(mutex_);
    return rosters_;
  }
  [[nodiscard]] bool comes_to(const std::string& roster) const {
    return support::eventually([&] {
      const auto all = rosters();
      return !all.empty() && all.back() == roster;
    });
  }
  [[nodiscard]] DiscoveryFigures figures() const { return discovery_->figures(); }
  [[nodiscard]] std::uint64_t failures(FailureReason reason) const {
    return figures().failures.at(static_cast<std::size_t>(reason));
  }
  [[nodiscard]] bool fails(FailureReason reason) const {
    const auto before = failures(reason);
    return support::eventually([&] { return failures(reason) > before; });
  }
  [[nodiscard]] bool is_in_touch() const {
    return support::eventually([&] { return figures().in_touch; });
  }
  [[nodiscard]] bool asks_twice(const std::string& name, NameType type) const {
    const auto before = server.questions(name, type);
    return support::eventually([&] { return server.questions(name, type) >= before + 2; });
  }
  void read_again() { discovery_->read_again(); }
  void stop() { discovery_.reset(); }
  [[nodiscard]] std::string_view source() const { return discovery_->source(); }

  support::FakeClock clock;
  NameServer server;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> rosters_;
  std::unique_ptr<Discovery> discovery_;
};

// Else it would ask again after the records' TTL.
TEST(DnsDiscovery, ReadAgainItAsksAtOnce) {
  DnsPace pace = quick();
  pace.interval_least = pace.interval_most = Milliseconds{3'600'000};
  Watching watching({"c.test", ""}, pace);
  watching.server.set(service, pods(2));
  watching.read_again();
  ASSERT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@10.0.0.2:8080"));
  watching.server.set(service, pods(3));
  watching.read_again();
  EXPECT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@10.0.0.2:8080 c-2@10.0.0.3:8080"));
  EXPECT_EQ(watching.figures().read_again, 2U);
}

TEST(DnsDiscovery, PodsAreNamedByTheirServiceRecords) {
  Watching watching({"c.test", ""});
  watching.server.set(service, pods(2));
  ASSERT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@10.0.0.2:8080"));
  ASSERT_TRUE(watching.is_in_touch());
  EXPECT_EQ(watching.source(), "dns");
  EXPECT_EQ(watching.figures().words, "_http._tcp.c.test: 2 of 2 replicas ready");
  EXPECT_EQ(watching.figures().last_answer, watching.clock.now());
  EXPECT_EQ(watching.figures().rosters, 1U);
  // The same again is told once; and what came with it is not asked for.
  ASSERT_TRUE(watching.asks_twice(service, NameType::srv));
  EXPECT_EQ(watching.rosters().size(), 1U);
  EXPECT_EQ(watching.server.questions("c-0.c.test"), 0U);
}

TEST(DnsDiscovery, AddressesThatDidNotComeAlongAreAskedFor) {
  Watching watching({"c.test", ""});
  watching.server.set("c-0.c.test", {ReplyKind::records, {{"fd00::1"}, {"10.0.0.1"}}});
  watching.server.set("c-1.c.test", {ReplyKind::records, {{"fd00::2"}}});
  watching.server.set(service, pods(3, false));
  EXPECT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@[fd00::2]:8080 (c-2)"));
}

TEST(DnsDiscovery, PodsComeRestartAndGo) {
  Watching watching({"c.test", ""});
  watching.server.set(service, pods(2));
  ASSERT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@10.0.0.2:8080"));
  watching.server.set(service, pods(3));
  ASSERT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@10.0.0.2:8080 c-2@10.0.0.3:8080"));
  watching.server.set(service, pods(2));
  ASSERT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@10.0.0.2:8080 (c-2)"));
  NameReply moved = pods(3);
  moved.additional[2].value = "10.0.0.9";
  watching.server.set(service, moved);
  ASSERT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@10.0.0.2:8080 c-2@10.0.0.9:8080"));
  watching.server.set(service, pods(1));
  ASSERT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 (c-1) (c-2)"));
  for (int i = 0; i < 2; ++i) {
    watching.clock.advance(limits::dns_member_kept / 2);
    ASSERT_TRUE(watching.asks_twice(service, NameType::srv));
  }
  EXPECT_TRUE(watching.comes_to("c-0@10.0.0.1:8080"));
}

TEST(DnsDiscovery, WithoutServiceRecordsAddressesAreNames) {
  // If they are set between the two questions for addresses, fd00::1 is the only member at first.
  const NameReply addresses{ReplyKind::records, {{"10.0.0.2"}, {"fd00::1"}, {"10.0.0.1"}}};
  Watching watching({"plain.test", "8080"}, quick(), {}, {{"plain.test", addresses}});
  ASSERT_TRUE(watching.comes_to("10.0.0.1@10.0.0.1:8080 10.0.0.2@10.0.0.2:8080"));
  watching.server.set("plain.test", {ReplyKind::records, {{"fd00::1"}}});
  EXPECT_TRUE(watching.comes_to("(10.0.0.1) (10.0.0.2) fd00::1@[fd00::1]:8080"));
}

TEST(DnsDiscovery, ShortNamesFollowTheSearchListAndItsChanges) {
  const std::string file = testing::TempDir() + fmt::format("resolv.conf.{}", ::getpid());
  std::ofstream(file) << "search none.test shop.test\noptions ndots:5\n";
  Watching watching({"c", ""}, quick(), file);
  watching.server.set("_http._tcp.c.shop.test", pods(1));
  watching.server.set("_http._tcp.c.other.test", pods(2));
  ASSERT_TRUE(watching.comes_to("c-0@10.0.0.1:8080"));
  std::ofstream(file + ".new") << "search other.test\noptions ndots:5\n";
  ASSERT_EQ(std::rename((file + ".new").c_str(), file.c_str()), 0);
  EXPECT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 c-1@10.0.0.2:8080"));
  watching.stop();
  std::remove(file.c_str());
}

TEST(DnsDiscovery, ANameMayAppearLater) {
  Watching watching({"c.test", ""});
  ASSERT_TRUE(watching.fails(FailureReason::not_found));
  EXPECT_FALSE(watching.figures().in_touch);
  EXPECT_FALSE(watching.figures().last_answer);
  EXPECT_THAT(watching.figures().words, testing::HasSubstr("there is no _http._tcp.c.test"));
  EXPECT_TRUE(watching.rosters().empty());
  watching.server.set(service, pods(1));
  EXPECT_TRUE(watching.comes_to("c-0@10.0.0.1:8080"));
  EXPECT_TRUE(watching.is_in_touch());
}

// Whatever goes wrong, and for however long: the members stay, and it shows.
TEST(DnsDiscovery, FailuresChangeNothing) {
  struct Case {
    NameReply reply;
    FailureReason reason;
  };
  NameReply cut = pods(4);
  cut.kind = ReplyKind::cut;
  const std::vector<Case> cases{
      {{ReplyKind::failure, {}}, FailureReason::unreachable},
      {{ReplyKind::silence, {}}, FailureReason::unreachable},
      {{ReplyKind::absent, {}}, FailureReason::not_found},
      {{ReplyKind::records, {}}, FailureReason::not_found},
      {{ReplyKind::garbage, {}}, FailureReason::malformed},
      {{ReplyKind::records, {{"no_name.c.test", 30, 80}}}, FailureReason::malformed},
      {cut, FailureReason::malformed},
  };
  DnsPace pace = quick();
  pace.timeout = Milliseconds{20};
  Watching watching({"c.test", ""}, pace);
  watching.server.set(service, pods(2));
  ASSERT_TRUE(watching.is_in_touch());
  for (const Case& one : cases) {
    watching.server.set(service, one.reply);
    ASSERT_TRUE(watching.fails(one.reason)) << name(one.reason);
    EXPECT_FALSE(watching.figures().in_touch);
    EXPECT_THAT(watching.figures().words, testing::HasSubstr("the last known replicas stay"));
    watching.clock.advance(2 * limits::dns_member_kept);
    ASSERT_TRUE(watching.fails(one.reason)) << name(one.reason);
    EXPECT_EQ(watching.rosters().size(), 1U);
  }
  watching.server.set(service, pods(1));
  EXPECT_TRUE(watching.comes_to("c-0@10.0.0.1:8080 (c-1)"));
}

TEST(DnsDiscovery, WhatIsTooLargeForADatagramComesOverTcp) {
  Watching watching({"c.test", ""});
  watching.server.set(service, pods(60));
  ASSERT_TRUE(watching.is_in_touch());
  EXPECT_GT(watching.server.streams(), 0U);
  EXPECT_THAT(watching.rosters().at(0), testing::EndsWith(" c-9@10.0.0.10:8080"));
  EXPECT_EQ(watching.figures().words, "_http._tcp.c.test: 60 of 60 replicas ready");
}

TEST(DnsDiscovery, WhatFitsADatagramOfTodayDoesNot) {
  Watching watching({"c.test", ""});
  watching.server.set(service, pods(10));  // more than 512 bytes, less than 1232
  ASSERT_TRUE(watching.is_in_touch());
  EXPECT_EQ(watching.server.streams(), 0U);
}

TEST(DnsDiscovery, ServersThatKnowNoEdnsAreUnderstood) {
  Watching watching({"c.test", ""});
  NameReply old = pods(10);
  old.kind = ReplyKind::old;
  watching.server.set(service, old);
  ASSERT_TRUE(watching.is_in_touch());
  EXPECT_GT(watching.server.streams(), 0U);
  EXPECT_EQ(watching.figures().words, "_http._tcp.c.test: 10 of 10 replicas ready");
}

TEST(DnsDiscovery, NoiseIsNoAnswer) {
  Watching watching({"c.test", ""});
  NameReply noisy = pods(1);
  noisy.kind = ReplyKind::after_noise;
  watching.server.set(service, noisy);
  EXPECT_TRUE(watching.comes_to("c-0@10.0.0.1:8080"));
}

TEST(DnsDiscovery, EndsAtOnceWhateverItWaitsFor) {
  DnsPace slow;  // far beyond the test's own patience
  slow.interval_least = slow.interval_most = slow.round_most = slow.timeout =
      Milliseconds{3'600'000};
  {
    Watching waiting_for_an_answer({"c.test", ""}, slow, {}, {{service, {ReplyKind::silence, {}}}});
    ASSERT_TRUE(support::eventually(
        [&] { return waiting_for_an_answer.server.questions(service, NameType::srv) > 0; }));
    waiting_for_an_answer.stop();
    EXPECT_TRUE(waiting_for_an_answer.rosters().empty());
  }
  {
    Watching waiting_for_the_next_round({"c.test", "80"}, slow);
    // It fails once, maybe before it is looked at.
    ASSERT_TRUE(support::eventually(
        [&] { return waiting_for_the_next_round.failures(FailureReason::not_found) == 1; }));
    waiting_for_the_next_round.stop();
  }
}

TEST(DnsDiscovery, ARoundEndsInTime) {
  DnsPace pace = quick();
  pace.timeout = Milliseconds{3'600'000};
  pace.round_most = Milliseconds{5};
  Watching watching({"c.test", ""}, pace);
  watching.server.set(service, {ReplyKind::silence, {}});
  ASSERT_TRUE(support::eventually([&] {
    watching.clock.advance(pace.round_most);
    return watching.failures(FailureReason::unreachable) > 0;
  }));
  EXPECT_THAT(watching.figures().words, testing::HasSubstr("took too long over all questions"));
}

TEST(DnsPace, TheNextRoundComesWithTheRecordsEnd) {
  struct Case {
    DnsRound round;
    double jitter;
    int expected_ms;
  };
  const std::vector<Case> cases{
      {{true, Seconds{5}, 0, true}, 0.0, 5000},
      {{true, Seconds{5}, 0, true}, 0.5, 5250},
      {{true, Seconds{0}, 0, true}, 0.0, 1000},
      {{true, Seconds{86400}, 0, true}, 1.0, 33000},
      {{false, Seconds{0}, 1, true}, 0.0, 1000},
      {{false, Seconds{0}, 2, true}, 0.0, 2000},
      {{false, Seconds{0}, 5, true}, 0.0, 16000},
      {{false, Seconds{0}, 6, true}, 0.0, 30000},
      {{false, Seconds{0}, 4'000'000'000, true}, 0.0, 30000},
      {{false, Seconds{0}, 9, false}, 0.0, 1000},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(wait_before_next({}, one.round, one.jitter), Milliseconds{one.expected_ms})
        << one.round.ttl.count() << " " << one.round.failures;
  }
}

}  // namespace
}  // namespace ringside::k8s
