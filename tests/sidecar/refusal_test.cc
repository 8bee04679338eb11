#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/limits.h"
#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using support::always;
using support::answer;
using support::ScriptedPeer;
using support::Stage;

std::string refusal_for(std::string_view holder) {
  return answer("421 Misdirected Request", "Ringside-Holder: " + std::string(holder) + "\r\n", "");
}

TEST(Refusal, TheReplicaThatIsNamedIsAskedNext) {
  const ScriptedPeer giver(always(refusal_for("cache-2")));
  const ScriptedPeer bystander(always(hit_of("cache-1")));
  const ScriptedPeer holder(always(hit_of("cache-2")));
  const auto settings = settings_for({giver.address(), bystander.address(), holder.address()});
  SomeSidecar sidecar(settings);
  const auto reply = sidecar.get(path_of(*settings, {0, 1}));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.field("cache-status"), "cache-2; hit");
  EXPECT_EQ(bystander.requests(), 0U);
  // It is no failure, and nothing is repeated.
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 0U);
  EXPECT_EQ(sidecar.errors(ErrorSource::peer), 0U);
}

TEST(Refusal, WhereNobodyIsKnownByThatNameTheNextOwnerIsAsked) {
  const ScriptedPeer giver(always(refusal_for("cache-9")));
  const ScriptedPeer next(always(hit_of("cache-1")));
  const auto settings = settings_for({giver.address(), next.address()});
  SomeSidecar sidecar(settings);
  EXPECT_EQ(sidecar.get(path_of(*settings, {0, 1})).status, 200);
  EXPECT_EQ(next.requests(), 1U);
}

// Refuses whoever does not say that `before` was asked before.
ScriptedPeer::Script refusing_all_but_after(std::string_view before, std::string_view holder) {
  const std::string told = "Ringside-Instead-Of: " + std::string(before) + "\r\n";
  return [told, refusal = refusal_for(holder)](Stage& stage) {
    while (true) {
      const bool is_told = stage.read_request().find(told) != std::string::npos;
      stage.send(is_told ? hit_of("cache-0") : refusal);
    }
  };
}

// It has given the shard to one that came after our topology was made.
TEST(Refusal, WhoNamesNobodyWhomWeKnowIsAskedAgainAndToldSo) {
  const ScriptedPeer giver(refusing_all_but_after("cache-0", "cache-9"));
  SomeSidecar sidecar({giver.address()});
  EXPECT_EQ(sidecar.get("/").status, 200);
  EXPECT_EQ(giver.requests(), 2U);
}

TEST(Refusal, WhereTheOneThatIsNamedFailsTheFirstOneIsAskedAgain) {
  const ScriptedPeer giver(refusing_all_but_after("cache-1", "cache-1"));
  const ScriptedPeer holder([](Stage& stage) { stage.reset(); });
  const auto settings = settings_for({giver.address(), holder.address()});
  SomeSidecar sidecar(settings);
  EXPECT_EQ(sidecar.get(path_of(*settings, {0, 1})).status, 200);
  EXPECT_EQ(giver.requests(), 2U);
}

TEST(Refusal, WhoIsAskedInTheOwnersPlaceIsToldOfItAndTheOwnerIsNot) {
  const ScriptedPeer owner([](Stage& stage) { stage.reset(); });
  const ScriptedPeer next(always(hit_of("cache-1")));
  const auto settings = settings_for({owner.address(), next.address()});
  SomeSidecar sidecar(settings);
  EXPECT_EQ(sidecar.get(path_of(*settings, {0, 1})).status, 200);
  EXPECT_EQ(sidecar.get(path_of(*settings, {1, 0})).status, 200);
  const auto heads = next.heads();
  ASSERT_EQ(heads.size(), 2U);
  EXPECT_NE(heads[0].find("Ringside-Instead-Of: cache-0\r\n"), std::string::npos) << heads[0];
  EXPECT_EQ(heads[1].find("Ringside-Instead-Of"), std::string::npos) << heads[1];
}

// Two that name each other must not be asked for ever.
TEST(Refusal, TwoThatNameEachOtherAreAskedOnceEach) {
  const ScriptedPeer a(always(refusal_for("cache-1")));
  const ScriptedPeer b(always(refusal_for("cache-0")));
  SomeSidecar sidecar({a.address(), b.address()});
  EXPECT_EQ(sidecar.get("/").status, 503);
  EXPECT_EQ(a.requests(), 1U);
  EXPECT_EQ(b.requests(), 1U);
}

// Peers of another version, or broken ones: the sidecar lives on.
TEST(Refusal, WhereAllRefuseThoughTheyAreToldWhoWasAskedBeforeTheClientGetsAnError) {
  const ScriptedPeer a(always(refusal_for("cache-1")));
  const ScriptedPeer b(always(refusal_for("cache-2")));
  const ScriptedPeer c(always(refusal_for("cache-3")));
  const ScriptedPeer d(always(refusal_for("cache-0")));
  SomeSidecar sidecar({a.address(), b.address(), c.address(), d.address()});
  for (int number = 0; number < 8; ++number) {
    EXPECT_EQ(sidecar.get(fmt::format("/{}", number)).status, 503);
  }
  const std::size_t asked = a.requests() + b.requests() + c.requests() + d.requests();
  EXPECT_LE(asked, 8 * (limits::owners_tried + 1));
}

// An origin's own 421 is another thing.
TEST(Refusal, A421ThatNamesNobodyIsAnAnswer) {
  const ScriptedPeer replica(always(answer("421 Misdirected Request", "", "not here")));
  SomeSidecar sidecar({replica.address()});
  const auto reply = sidecar.get("/");
  EXPECT_EQ(reply.status, 421);
  EXPECT_EQ(reply.body, "not here");
}

TEST(Refusal, ContentThatWasSentIsNotSentAgain) {
  const ScriptedPeer giver(always(refusal_for("cache-1")));
  const ScriptedPeer holder(always(hit_of("cache-1")));
  const auto settings = settings_for({giver.address(), holder.address()});
  SomeSidecar sidecar(settings);
  const auto reply = sidecar.ask("PUT " + path_of(*settings, {0, 1}) +
                                 " HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(holder.requests(), 0U);
}

}  // namespace
}  // namespace ringside::sidecar
