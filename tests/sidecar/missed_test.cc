#include "sidecar/missed.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/sidecar/probed_replica.h"
#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using metrics::ProbeAnswer;
using support::eventually;
using support::ScriptedPeer;
using support::Stage;

TEST(Missed, NewsAreToldUntilTheyWereHeeded) {
  const std::atomic<std::uint64_t> purges{7};
  Missed missed("5d1f", purges);
  EXPECT_FALSE(missed.has_news());
  EXPECT_FALSE(missed.news());
  missed.miss();
  missed.miss();
  EXPECT_TRUE(missed.has_news());
  EXPECT_EQ(missed.news()->text, "5d1f 2");
  missed.heeded(2);
  EXPECT_FALSE(missed.has_news());
  missed.heeded(1);  // an older probe's answer
  EXPECT_FALSE(missed.has_news());
}

TEST(Missed, WhatIsMissedWhileAProbeIsUnderWayIsStillNews) {
  const std::atomic<std::uint64_t> purges{7};
  Missed missed("5d1f", purges);
  missed.miss();
  const auto news = missed.news();
  missed.miss();
  missed.heeded(news->number);
  EXPECT_EQ(missed.news()->number, 2U);
}

tier::Membership members(const std::vector<std::string>& names) {
  std::vector<shard::Member> all;
  for (const auto& name : names) all.push_back({name, 1, ""});
  const std::vector<Endpoint> addresses(names.size());
  return {shard::Topology::make(std::move(all), "ring", 1).value(), addresses};
}

TEST(MissedTable, WhoIsNoMemberMissesEverything) {
  const std::atomic<std::uint64_t> purges{7};
  MissedTable table("5d1f", purges);
  const auto three = table.follow(members({"a", "b", "c"}));
  const auto two = table.follow(members({"a", "c"}));
  EXPECT_EQ(two[0], three[0]);
  EXPECT_EQ(two[1], three[2]);
  table.miss_all_but(two);
  const auto again = table.follow(members({"a", "b", "c", "d"}));
  EXPECT_FALSE(again[0]->has_news());
  EXPECT_TRUE(again[1]->has_news());
  EXPECT_EQ(again[1]->news()->text, "5d1f 1");
  EXPECT_EQ(again[1]->news()->purges, "5d1f 7") << "what it has missed is among those";
  EXPECT_FALSE(again[2]->has_news());
  EXPECT_FALSE(again[3]->has_news()) << "it may have been there for long, or not at all";
}

TEST(MissedTable, OfThoseWhoWereMembersSomeAreRemembered) {
  const std::atomic<std::uint64_t> purges{7};
  MissedTable table("5d1f", purges);
  const auto first = table.follow(members({"first"}));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < limits::replicas_remembered; ++i) {
    names.push_back("other-" + std::to_string(i));
  }
  static_cast<void>(table.follow(members(names)));
  EXPECT_EQ(table.follow(members({"first"})), first);
  static_cast<void>(table.follow(members({"one-more", "and-one-more"})));
  EXPECT_NE(table.follow(members({"first"})), first);
}

// A replica that confirms nothing while it is deaf, and answers all else.
ScriptedPeer::Script hearing(const std::atomic<bool>& deaf) {
  return [&deaf](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      const bool forgets =
          request.starts_with("PURGE") || !support::field(request, "ringside-invalidate").empty();
      if (forgets && deaf) stage.close();
      const auto news = support::field(request, "ringside-missed");
      const auto number = news.substr(news.find(' ') + 1);
      if (forgets) {
        stage.send(support::answer("200 OK", "Ringside-Purged: 1\r\n", ""));
      } else if (is_probe(request)) {
        stage.send(support::answer("200 OK", "Ringside-Heeded: " + number + "\r\n", ""));
      } else {
        stage.send(hit_of("cache-0"));
      }
    }
  };
}

std::size_t purges_of(const ScriptedPeer& peer) {
  std::size_t count = 0;
  for (const auto& head : peer.heads()) count += head.starts_with("PURGE") ? 1 : 0;
  return count;
}

TEST(MissedPurge, IsToldWithEveryRequestUntilAProbeWasAnswered) {
  std::atomic<bool> deaf{false};
  const ScriptedPeer replica(hearing(deaf));
  const auto settings = settings_for({replica.address()});
  SomeSidecar sidecar(settings);
  const auto told = [&] {
    static_cast<void>(sidecar.get("/a"));
    return support::field(replica.heads().back(), "ringside-missed");
  };
  EXPECT_TRUE(sidecar.purge("a.test", "/a").missing.empty());
  EXPECT_EQ(told(), "");

  deaf = true;
  EXPECT_EQ(sidecar.purge("a.test", "/a").missing.size(), 1U);
  deaf = false;
  const auto first = told();
  EXPECT_TRUE(first.ends_with(" 1")) << first;
  const auto mark = first.substr(0, first.find(' '));
  EXPECT_GE(mark.size(), 8U);

  // It will forget everything, so there is nothing more to ask of it.
  const auto asked = purges_of(replica);
  const auto report = sidecar.purge("a.test", "/b");
  EXPECT_EQ(report.missing,
            std::vector<std::string>{"cache-0: has not heard yet of what it has missed"});
  EXPECT_EQ(purges_of(replica), asked);
  EXPECT_EQ(told(), mark + " 2");

  sidecar.clock().advance(limits::probe_interval);
  ASSERT_TRUE(eventually([&] {
    return sidecar.totals().of("ringside_replica_probes_total", ProbeAnswer::answered) == 1;
  }));
  const auto probe = replica.heads().back();
  EXPECT_TRUE(is_probe(probe)) << probe;
  EXPECT_EQ(support::field(probe, "ringside-missed"), mark + " 2");
  EXPECT_EQ(support::field(probe, "ringside-topology"), settings->membership->topology_id);
  EXPECT_EQ(told(), "");
  EXPECT_TRUE(sidecar.purge("a.test", "/a").missing.empty());
  sidecar.clock().advance(limits::probe_interval);
  EXPECT_EQ(told(), "");
}

TEST(MissedPurge, WhoDoesNotSayThatItHasHeededItHasNot) {
  const ScriptedPeer busy(support::always(support::answer("200 OK", "", "of somebody else")));
  SomeSidecar sidecar({busy.address()});
  EXPECT_EQ(sidecar.purge("a.test", "/a").missing.size(), 1U);
  sidecar.clock().advance(limits::probe_interval);
  ASSERT_TRUE(eventually([&] {
    return sidecar.totals().of("ringside_replica_probes_total", ProbeAnswer::answered) == 1;
  }));
  static_cast<void>(sidecar.get("/a"));
  EXPECT_NE(support::field(busy.heads().back(), "ringside-missed"), "");
}

TEST(MissedPurge, WhoWillNotPurgeHasNotMissedIt) {
  const ScriptedPeer refusing(support::always(support::answer("403 Forbidden", "", "no")));
  SomeSidecar sidecar({refusing.address()});
  EXPECT_EQ(sidecar.purge("a.test", "/a").missing,
            std::vector<std::string>{"cache-0: takes no purges from this sidecar; give it "
                                     "--purge-from with this sidecar's address"});
  static_cast<void>(sidecar.get("/a"));
  EXPECT_EQ(support::field(refusing.heads().back(), "ringside-missed"), "");
}

TEST(MissedPurge, WhoWasAbsentIsToldWhenItIsBack) {
  std::atomic<bool> deaf{false};
  const ScriptedPeer one(hearing(deaf));
  const ScriptedPeer other(hearing(deaf));
  const auto both = settings_for({one.address(), other.address()});
  SomeSidecar sidecar(both);
  sidecar->apply(settings_for({one.address()}));
  EXPECT_TRUE(sidecar.purge("a.test", "/a").missing.empty());
  EXPECT_EQ(purges_of(other), 0U);
  sidecar->apply(both);
  static_cast<void>(sidecar.get(path_of(*both, {1})));
  EXPECT_NE(support::field(other.heads().back(), "ringside-missed"), "");
  static_cast<void>(sidecar.get(path_of(*both, {0})));
  EXPECT_EQ(support::field(one.heads().back(), "ringside-missed"), "");
}

TEST(MissedPurge, AReplicaWithoutAnAddressIsNotForgotten) {
  std::atomic<bool> deaf{false};
  const ScriptedPeer one(hearing(deaf));
  const ScriptedPeer other(hearing(deaf));
  const auto both = settings_for({one.address(), other.address()});
  SomeSidecar sidecar(settings_for({one.address(), Endpoint{}}));
  EXPECT_EQ(sidecar.purge("a.test", "/a").missing.size(), 1U);
  sidecar->apply(both);
  static_cast<void>(sidecar.get(path_of(*both, {1})));
  EXPECT_NE(support::field(other.heads().back(), "ringside-missed"), "");
}

}  // namespace
}  // namespace ringside::sidecar
