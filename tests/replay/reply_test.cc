#include "replay/reply.h"

#include <gtest/gtest.h>

namespace ringside::replay {
namespace {

using metrics::Outcome;

struct Row {
  const char* field;
  const char* cache;
  Outcome outcome;
};

TEST(ParseServedBy, TheFirstMemberIsTheReplica) {
  const Row table[] = {
      {"cache-3; hit; ttl=3595, ringside; fwd=bypass", "cache-3", Outcome::hit},
      {"cache-3;hit", "cache-3", Outcome::hit},
      {"cache-3; hit; ttl=-5", "cache-3", Outcome::stale},
      {"cache-3; hit=?0; fwd=miss", "cache-3", Outcome::miss},
      {"cache-3; fwd=uri-miss; fwd-status=200; stored, ringside; fwd=bypass", "cache-3",
       Outcome::miss},
      {"cache-3; fwd=uri-miss; collapsed; stored", "cache-3", Outcome::collapsed},
      {"cache-3; fwd=stale; fwd-status=304", "cache-3", Outcome::revalidated},
      {"cache-3; fwd=stale; fwd-status=200; stored", "cache-3", Outcome::miss},
      {"cache-3; fwd=method", "cache-3", Outcome::bypass},
      {"ringside; fwd=bypass", "ringside", Outcome::bypass},
      {R"("cache 3, \"east\""; hit; detail="a;b,c", ringside)", "cache 3, \"east\"", Outcome::hit},
      {"cache-3; key=:aGl0:; ttl=1.5; hit", "cache-3", Outcome::hit},
      {"cache-3; hit; ttl=5; ttl=-5", "cache-3", Outcome::stale},
      // A near hit: the sidecar repeats what the replica had said, and adds its own.
      {"cache-3; fwd=uri-miss; stored, ringside; hit", "cache-3", Outcome::hit},
  };
  for (const Row& row : table) {
    const auto served = parse_served_by(row.field);
    ASSERT_TRUE(served.has_value()) << row.field;
    EXPECT_EQ(served->cache, row.cache) << row.field;
    EXPECT_EQ(served->outcome, row.outcome) << row.field;
  }
}

TEST(ParseServedBy, WhatIsNoListSaysNothing) {
  for (const char* field : {"", "  ", "cache-3; hit,", "cache-3; Hit", "cache-3; hit x", "\"open",
                            "cache-3; ttl=", "cache-3;; hit", ", cache-3", "(a b); hit",
                            "cache-3; ttl=1234567890123456", "?2", "5; hit", "cache-3; hit, (a b)",
                            "cache-3; d=\"\\n\""}) {
    EXPECT_FALSE(parse_served_by(field).has_value()) << field;
  }
}

TEST(IsTierError, TellsTheTiersAnswersFromTheOrigins) {
  const ServedBy replica{"cache-3", Outcome::miss};
  const ServedBy sidecar{"ringside", Outcome::bypass};
  EXPECT_TRUE(is_tier_error(502, replica, "cache-3; error=connection_refused"));
  EXPECT_TRUE(
      is_tier_error(503, sidecar, "ringside; error=destination_unavailable; details=\"x\""));
  EXPECT_TRUE(is_tier_error(400, sidecar, ""));
  EXPECT_FALSE(is_tier_error(400, replica, ""));  // the origin's own
  EXPECT_FALSE(is_tier_error(503, replica, ""));
  EXPECT_FALSE(is_tier_error(200, replica, "origin-proxy; received-status=200"));
  EXPECT_FALSE(is_tier_error(404, std::nullopt, ""));
}

TEST(TierErrorText, IsStatusAndReason) {
  EXPECT_EQ(tier_error_text(502, "cache-3; error=connection_refused"), "502 connection_refused");
  EXPECT_EQ(
      tier_error_text(504, "other, ringside; error=http_response_timeout; details=\"no \\\"x\""),
      "504 http_response_timeout (no \"x)");
  EXPECT_EQ(tier_error_text(400, ""), "400, refused by the sidecar");
}

}  // namespace
}  // namespace ringside::replay
