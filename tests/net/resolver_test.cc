#include "net/resolver.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/http1/some_connection.h"
#include "tests/support/name_server.h"
#include "tests/support/scripted_peer.h"

namespace ringside::net {
namespace {

using support::eventually;
using support::NameReply;
using support::NameServer;
using Kind = NameReply::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const std::string the_name = "www.ringside.example";
constexpr Milliseconds far{60'000};

// A resolver on a core, and the name server that it asks. Time stands still; only c-ares asks again
// by its own clock.
class ResolverTest : public http::OneCore {
 protected:
  // What a call came to: the addresses in their order, or an error.
  struct Told {
    std::vector<std::string> addresses;
    std::optional<Error> error;
  };

  ResolverTest() {
    on_core([&] {
      resolver_ = std::make_unique<Resolver>(core(), ErrorSource::origin, server_.address());
    });
  }
  ~ResolverTest() override {
    cores_.stop();
    resolver_.reset();
  }

  void on_core(const std::function<void()>& work) {
    cores_.on_each([&](Core&) { work(); });
  }
  Task<void> resolve(Told& told, std::string host, SteadyPoint deadline) {
    const Endpoint endpoint{std::move(host), 80};
    const auto resolved = co_await resolver_->resolve(endpoint, deadline);
    if (!resolved) {
      told.error = resolved.error();
      co_return;
    }
    for (const auto& one : *resolved) {
      EXPECT_EQ(one.port, 80);
      told.addresses.push_back(one.address.text());
    }
  }
  [[nodiscard]] std::future<void> start(Told& told, Milliseconds within = far,
                                        const std::string& host = the_name) {
    const SteadyPoint deadline = clock_.steady_now() + within;
    return support::start_on(
        core(), [this, &told, host, deadline] { return resolve(told, host, deadline); });
  }
  [[nodiscard]] Told ask(const std::string& host = the_name) {
    Told told;
    start(told, far, host).get();
    return told;
  }
  [[nodiscard]] bool will_be_asked(std::size_t times) {
    return eventually([&] { return server_.questions(the_name) == times; });
  }
  void say(Kind kind, std::vector<support::NameRecord> records = {}) {
    server_.set(the_name, {kind, std::move(records)});
  }

  NameServer server_;
  std::unique_ptr<Resolver> resolver_;
};

TEST_F(ResolverTest, TellsWhatTheNameServerSays) {
  const std::string v4 = "192.0.2.1";
  const std::string v6 = "2001:db8::1";
  struct Row {
    Kind kind;
    std::vector<support::NameRecord> records;
    std::set<std::string> addresses;  // none: it is unresolved
  };
  const std::vector<Row> table = {
      {Kind::records, {{v4}}, {v4}},
      {Kind::records, {{v6}}, {v6}},
      {Kind::records, {{v4}, {v6}}, {v4, v6}},
      {Kind::records, {{v4}, {"192.0.2.2"}}, {v4, "192.0.2.2"}},
      {Kind::records, {{"other.example"}, {v4}}, {v4}},  // for IPv6 the alias alone
      {Kind::records, {{"other.example"}, {v6}}, {v6}},
      {Kind::records, {{"a.example"}, {"b.example"}, {v4}, {v6}}, {v4, v6}},
      {Kind::records, {{"other.example"}}, {}},
      {Kind::records, {}, {}},
      {Kind::absent, {}, {}},
      {Kind::failure, {}, {}},
      {Kind::garbage, {}, {}},
      {Kind::after_noise, {{v4}, {v6}}, {v4, v6}},
      {Kind::truncated, {{v4}, {v6}}, {v4, v6}},
      {Kind::truncated, {}, {}},
  };
  unsigned number = 0;
  for (const Row& row : table) {
    const std::string name = fmt::format("row{}.ringside.example", number++);
    SCOPED_TRACE(name);
    server_.set(name, {row.kind, row.records});
    const Told told = ask(name);
    EXPECT_EQ(std::set(told.addresses.begin(), told.addresses.end()), row.addresses);
    EXPECT_EQ(told.error.has_value(), row.addresses.empty());
    if (!told.error) continue;
    EXPECT_EQ(told.error->kind, ErrorKind::unresolved);
    EXPECT_EQ(told.error->source, ErrorSource::origin);
    EXPECT_EQ(told.error->retry, Retry::yes);
    EXPECT_THAT(told.error->message, HasSubstr(name));
  }
}

TEST_F(ResolverTest, TheErrorSaysWhatCAresSaid) {
  EXPECT_EQ(ask().error->message, "cannot resolve www.ringside.example: Domain name not found");
}

TEST_F(ResolverTest, LocalhostNeedsNoNameServer) {
  const Told told = ask("localhost");
  EXPECT_FALSE(told.error);
  EXPECT_THAT(told.addresses, testing::Contains(testing::AnyOf("127.0.0.1", "::1")));
  EXPECT_EQ(server_.questions("localhost"), 0U);
}

TEST_F(ResolverTest, AnAnswerIsGoodForTheSmallestTtlOfItsRecordsWithinBounds) {
  struct Row {
    std::vector<support::NameRecord> records;
    Milliseconds good_for;
  };
  const std::vector<Row> table = {
      {{{"192.0.2.1", 100}}, Seconds{100}},
      {{{"192.0.2.1", 100}, {"192.0.2.2", 30}}, Seconds{30}},
      {{{"192.0.2.1", 100}, {"2001:db8::1", 20}}, Seconds{20}},
      {{{"other.example", 10}, {"192.0.2.1", 100}}, Seconds{10}},
      {{{"192.0.2.1", 0}}, limits::resolve_ttl_least},
      {{{"192.0.2.1", 0xffff'ffff}}, limits::resolve_ttl_least},  // RFC 2181 §8: as 0
      {{{"192.0.2.1", 86'400}}, limits::resolve_ttl_most},
  };
  unsigned number = 0;
  for (const Row& row : table) {
    const std::string name = fmt::format("row{}.ringside.example", number++);
    SCOPED_TRACE(name);
    server_.set(name, {Kind::records, row.records});
    EXPECT_FALSE(ask(name).error);
    clock_.advance(row.good_for - Milliseconds{1});
    EXPECT_FALSE(ask(name).error);
    EXPECT_EQ(server_.questions(name), 1U);
    clock_.advance(Milliseconds{1});
    EXPECT_FALSE(ask(name).error);
    EXPECT_EQ(server_.questions(name), 2U);
  }
}

TEST_F(ResolverTest, ANewAnswerTakesThePlaceOfTheOld) {
  say(Kind::records, {{"192.0.2.1", 5}});
  EXPECT_THAT(ask().addresses, ElementsAre("192.0.2.1"));
  say(Kind::records, {{"192.0.2.2", 5}});
  EXPECT_THAT(ask().addresses, ElementsAre("192.0.2.1"));
  clock_.advance(Seconds{5});
  EXPECT_THAT(ask().addresses, ElementsAre("192.0.2.2"));
}

TEST_F(ResolverTest, ManyWhoWantTheSameNameAskOnce) {
  say(Kind::silence);
  std::list<Told> all(50);
  std::vector<std::future<void>> futures;
  for (Told& told : all) futures.push_back(start(told));
  ASSERT_TRUE(will_be_asked(1));
  say(Kind::records, {{"192.0.2.1"}});  // c-ares asks again
  for (auto& future : futures) future.get();
  for (const Told& told : all) EXPECT_THAT(told.addresses, ElementsAre("192.0.2.1"));
  EXPECT_EQ(server_.questions(the_name), 1U);
}

TEST_F(ResolverTest, SilenceEndsAtTheDeadlineAndTheLookupGoesOn) {
  say(Kind::silence);
  Told told;
  auto future = start(told, Milliseconds{500});
  ASSERT_TRUE(will_be_asked(1));
  clock_.advance(Milliseconds{500});
  future.get();
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->kind, ErrorKind::timeout);
  EXPECT_EQ(told.error->retry, Retry::yes);
  EXPECT_THAT(told.error->message, HasSubstr(the_name));

  say(Kind::records, {{"192.0.2.1"}});
  EXPECT_THAT(ask().addresses, ElementsAre("192.0.2.1"));
  EXPECT_EQ(server_.questions(the_name), 1U);
}

TEST_F(ResolverTest, ALookupEndsByItsOwnTimeout) {
  say(Kind::silence);
  Told told;
  auto future = start(told);
  ASSERT_TRUE(will_be_asked(1));
  clock_.advance(limits::resolve_timeout);
  future.get();
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->kind, ErrorKind::unresolved);
  EXPECT_THAT(told.error->message, HasSubstr("no answer within 5000 ms"));
}

TEST_F(ResolverTest, AFailureIsRememberedForAShortTime) {
  say(Kind::absent);
  EXPECT_TRUE(ask().error);
  say(Kind::records, {{"192.0.2.1"}});
  clock_.advance(limits::resolve_failure_ttl - Milliseconds{1});
  EXPECT_TRUE(ask().error);
  EXPECT_EQ(server_.questions(the_name), 1U);
  clock_.advance(Milliseconds{1});
  EXPECT_THAT(ask().addresses, ElementsAre("192.0.2.1"));
}

TEST_F(ResolverTest, OldAddressesAreUsedForATimeWhereNameServersFail) {
  say(Kind::records, {{"192.0.2.1", 5}});
  EXPECT_FALSE(ask().error);
  for (const Kind kind : {Kind::failure, Kind::garbage}) {
    say(kind);
    clock_.advance(Seconds{5});
    on_core([&] { resolver_->forget_old(); });
    EXPECT_THAT(ask().addresses, ElementsAre("192.0.2.1"));
    EXPECT_THAT(ask().addresses, ElementsAre("192.0.2.1"));
  }
  EXPECT_EQ(server_.questions(the_name), 1U + 2U);
  // The end of their use was set by the answer that gave them, not by the failures.
  clock_.advance(limits::resolve_stale_most - Seconds{5});
  const Told told = ask();
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->kind, ErrorKind::unresolved);
}

TEST_F(ResolverTest, OldAddressesAreNotUsedWhereTheNameIsGone) {
  say(Kind::records, {{"192.0.2.1", 5}});
  EXPECT_FALSE(ask().error);
  say(Kind::absent);
  clock_.advance(Seconds{5});
  EXPECT_TRUE(ask().error);
}

TEST_F(ResolverTest, ASilentNameServerDelaysWhoHasOldAddressesOnlyShortly) {
  say(Kind::records, {{"192.0.2.1", 5}});
  EXPECT_FALSE(ask().error);
  say(Kind::silence);
  clock_.advance(Seconds{5});
  Told told;
  auto future = start(told);
  ASSERT_TRUE(will_be_asked(2));
  clock_.advance(limits::resolve_patience);
  future.get();
  EXPECT_THAT(told.addresses, ElementsAre("192.0.2.1"));
  // And not at all later: the lookup has hung for long enough.
  EXPECT_THAT(ask().addresses, ElementsAre("192.0.2.1"));
}

TEST_F(ResolverTest, EachOfSeveralAddressesIsFirstInItsTurn) {
  say(Kind::records, {{"192.0.2.1"}, {"192.0.2.2"}, {"192.0.2.3"}});
  std::set<std::string> first;
  for (unsigned count = 0; count < 3; ++count) {
    const Told told = ask();
    EXPECT_THAT(told.addresses, UnorderedElementsAre("192.0.2.1", "192.0.2.2", "192.0.2.3"));
    if (!told.error) first.insert(told.addresses.front());
  }
  EXPECT_THAT(first, ElementsAre("192.0.2.1", "192.0.2.2", "192.0.2.3"));
}

// ::1 is reached from here or not; then 192.0.2.1 is the better one. Either way it stays so.
TEST_F(ResolverTest, TurnsAreTakenWithinAFamily) {
  say(Kind::records, {{"127.0.0.1"}, {"127.0.0.2"}, {"::1"}});
  std::vector<Told> all;
  for (unsigned count = 0; count < 4; ++count) {
    all.push_back(ask());
    ASSERT_EQ(all.back().addresses.size(), 3U);
  }
  const auto place_of_v6 = [](const Told& told) {
    return std::find(told.addresses.begin(), told.addresses.end(), "::1") - told.addresses.begin();
  };
  EXPECT_THAT(place_of_v6(all.front()), testing::AnyOf(0, 2));
  for (const Told& told : all) EXPECT_EQ(place_of_v6(told), place_of_v6(all.front()));
}

TEST_F(ResolverTest, OfVeryManyAddressesOnlyTheFirstOnesCount) {
  std::vector<support::NameRecord> records;
  for (unsigned count = 0; count < 100; ++count) {
    records.push_back({fmt::format("192.0.2.{}", count)});
  }
  say(Kind::truncated, records);
  EXPECT_EQ(ask().addresses.size(), limits::resolve_addresses);
}

TEST_F(ResolverTest, AStopEndsAHangingLookupAtOnce) {
  say(Kind::silence);
  Told told;
  auto future = start(told);
  ASSERT_TRUE(will_be_asked(1));
  cores_.stop();
  future.get();
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->kind, ErrorKind::timeout);
}

TEST_F(ResolverTest, ItMayEndWhileALookupHangs) {
  say(Kind::silence);
  Told told;
  auto future = start(told, Milliseconds{500});
  ASSERT_TRUE(will_be_asked(1));
  clock_.advance(Milliseconds{500});
  future.get();
  on_core([&] { resolver_.reset(); });
}

TEST_F(ResolverTest, NameServersThatAreNoneFailTheLookup) {
  on_core(
      [&] { resolver_ = std::make_unique<Resolver>(core(), ErrorSource::peer, "not an address"); });
  const Told told = ask();
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->kind, ErrorKind::unresolved);
  EXPECT_EQ(told.error->source, ErrorSource::peer);
}

}  // namespace
}  // namespace ringside::net
