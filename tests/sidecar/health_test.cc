#include "sidecar/health.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/limits.h"

namespace ringside::sidecar {
namespace {

// Numbers below are milliseconds after this.
constexpr SteadyPoint start{Seconds{1'000}};
constexpr SteadyPoint never = SteadyPoint::max();
SteadyPoint at(std::int64_t ms) { return start + Milliseconds{ms}; }

constexpr std::int64_t suspicion = limits::suspicion_after.count();
constexpr std::int64_t interval = limits::probe_interval.count();
constexpr std::int64_t slow_start = limits::slow_start.count();

bool wants_probe(const Health& health, SteadyPoint waiting_since, SteadyPoint now) {
  return health.wants_probe(waiting_since) <= now;
}

TEST(MostEjected, IsAShareAndNeverAll) {
  struct Row {
    std::size_t members, most;
  };
  for (const Row& row :
       std::vector<Row>{{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}, {10, 5}, {11, 5}, {1'024, 512}}) {
    EXPECT_EQ(most_ejected(row.members), row.most) << row.members;
  }
}

Health ejected() {
  Health health;
  for (unsigned i = 1; i < limits::ejection_failures; ++i) {
    EXPECT_FALSE(health.failed(ErrorKind::refused, start));
  }
  EXPECT_TRUE(health.failed(ErrorKind::refused, start));
  health.eject();
  return health;
}

TEST(Health, FailuresInARowEject) {
  const Health health = ejected();
  EXPECT_TRUE(health.is_ejected());
  EXPECT_FALSE(health.takes(0, at(0)));
}

TEST(Health, AnAnswerBetweenFailuresBeginsTheRowAnew) {
  Health health;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(health.failed(ErrorKind::disconnected, at(i)));
    EXPECT_FALSE(health.failed(ErrorKind::disconnected, at(i)));
    health.answered(at(i));
  }
  EXPECT_TRUE(health.is_in_service());
}

TEST(Health, OnlyWhatTheReplicaDidIsAFailure) {
  struct Row {
    ErrorKind kind;
    bool ejects;
  };
  for (const Row& row : std::vector<Row>{{ErrorKind::refused, true},
                                         {ErrorKind::unresolved, true},
                                         {ErrorKind::untrusted, true},
                                         {ErrorKind::disconnected, true},
                                         {ErrorKind::timeout, true},
                                         {ErrorKind::malformed, false},
                                         {ErrorKind::head_too_large, false},
                                         {ErrorKind::overloaded, false},
                                         {ErrorKind::internal, false}}) {
    Health health;
    bool ejects = false;
    for (unsigned i = 0; i < limits::ejection_failures; ++i)
      ejects = health.failed(row.kind, at(i));
    EXPECT_EQ(ejects, row.ejects) << name(row.kind);
  }
}

// An origin whose answers made replicas send what the sidecar refused had them ejected.
TEST(Health, WhatCannotBeReadIsForAProbeToJudge) {
  for (const ErrorKind kind : {ErrorKind::malformed, ErrorKind::head_too_large}) {
    Health health;
    EXPECT_FALSE(wants_probe(health, never, at(0)));
    EXPECT_FALSE(health.failed(kind, at(0)));
    EXPECT_TRUE(wants_probe(health, never, at(1)));
    health.answered(at(2));  // some other request
    EXPECT_TRUE(wants_probe(health, never, at(2)));
    health.probe_begins(at(3));
    EXPECT_FALSE(wants_probe(health, never, at(4)));
    EXPECT_FALSE(health.probe_answered(at(5)));
    EXPECT_FALSE(wants_probe(health, never, at(3 + interval)));
    EXPECT_FALSE(health.is_ejected());
  }
}

TEST(Health, AWaitThatRanOutIsNoFailureOfAReplicaThatWasAliveMeanwhile) {
  struct Row {
    std::int64_t began, sign_of_life;
    bool ejects;
  };
  for (const Row& row : std::vector<Row>{{100, 50, true}, {100, 101, false}, {100, 5'000, false}}) {
    for (const bool by_probe : {false, true}) {
      Health health;
      bool ejects = false;
      if (by_probe) {
        health.probe_answered(at(row.sign_of_life));
      } else {
        health.answered(at(row.sign_of_life));
      }
      for (unsigned i = 0; i < limits::ejection_failures; ++i) {
        ejects = health.failed(ErrorKind::timeout, at(row.began));
      }
      EXPECT_EQ(ejects, row.ejects) << row.began << " " << row.sign_of_life;
    }
  }
}

TEST(Health, WhoIsLateAndSilentIsSuspected) {
  struct Row {
    const char* what;
    std::int64_t waiting_since, sign_of_life, now;
    bool wants_probe;
  };
  for (const Row& row : std::vector<Row>{
           {"not yet late", 0, -1, suspicion - 1, false},
           {"late", 0, -1, suspicion, true},
           {"late, but it answered others since", 0, 150, suspicion, false},
           {"late, and nothing came for as long", 0, 150, 150 + suspicion, true},
           {"very late, and busy with others", 0, 9'950, 10'000, false},
       }) {
    Health health;
    health.answered(at(row.sign_of_life));
    EXPECT_EQ(wants_probe(health, at(row.waiting_since), at(row.now)), row.wants_probe) << row.what;
    EXPECT_FALSE(wants_probe(health, never, at(row.now))) << row.what;
  }
}

TEST(Health, ProbesAreAnIntervalApart) {
  Health health = ejected();
  EXPECT_TRUE(wants_probe(health, never, at(0)));
  health.probe_begins(at(0));
  EXPECT_FALSE(wants_probe(health, at(-5'000), at(interval - 1)));
  EXPECT_TRUE(wants_probe(health, never, at(interval)));
}

TEST(Health, AFailedProbeEjectsAtOnce) {
  Health health;
  health.answered(at(-1));
  health.probe_begins(at(suspicion));
  EXPECT_TRUE(health.probe_failed());
  health.eject();
  EXPECT_TRUE(health.is_ejected());
}

// The port's queue was full, say, while connections that are open went on.
TEST(Health, AFailedProbeOfWhoAnsweredOthersMeanwhileTellsNothing) {
  Health health;
  health.probe_begins(at(suspicion));
  health.answered(at(suspicion + 100));
  EXPECT_FALSE(health.probe_failed());
  EXPECT_TRUE(health.is_in_service());
  EXPECT_FALSE(wants_probe(health, never, at(10'000)));
}

TEST(Health, WhoMayNotBeEjectedIsProbedAllTheSame) {
  Health health;
  for (int i = 0; i < 10; ++i) (void)health.failed(ErrorKind::refused, start);
  EXPECT_TRUE(health.takes(999, at(0)));
  EXPECT_TRUE(wants_probe(health, never, at(0)));
  health.probe_begins(at(0));
  EXPECT_FALSE(health.probe_answered(at(1)));
  EXPECT_FALSE(wants_probe(health, never, at(10'000)));
}

TEST(Health, OnlyAProbeBringsItBack) {
  Health health = ejected();
  health.answered(at(10));  // an old request's answer
  EXPECT_TRUE(health.is_ejected());
  EXPECT_TRUE(health.probe_answered(at(20)));
  EXPECT_FALSE(health.is_ejected());
  EXPECT_FALSE(health.probe_answered(at(30)));
}

TEST(Health, ItsKeysComeBackByAndByAndStay) {
  struct Row {
    std::int64_t after;
    int permille;
  };
  Health health = ejected();
  ASSERT_TRUE(health.probe_answered(at(0)));
  std::vector<bool> taken(1'000);
  for (const Row& row : std::vector<Row>{{0, 100},
                                         {slow_start / 3, 400},
                                         {slow_start * 2 / 3, 700},
                                         {slow_start, 1'000},
                                         {slow_start * 100, 1'000}}) {
    int keys = 0;
    for (std::uint64_t hash = 0; hash < 1'000; ++hash) {
      const bool takes = health.takes(hash + 77'000, at(row.after));
      EXPECT_TRUE(takes || !taken[hash]) << "a key went back and forth";
      taken[hash] = takes;
      if (takes) ++keys;
    }
    EXPECT_EQ(keys, row.permille) << row.after;
  }
}

TEST(Health, IsInServiceAgainAfterTheSlowStart) {
  Health health = ejected();
  ASSERT_TRUE(health.probe_answered(at(0)));
  health.answered(at(slow_start - 1));
  EXPECT_FALSE(health.is_in_service());
  health.answered(at(slow_start));
  EXPECT_TRUE(health.is_in_service());
}

TEST(Health, FailuresDuringTheSlowStartEjectAgain) {
  Health health = ejected();
  ASSERT_TRUE(health.probe_answered(at(0)));
  bool ejects = false;
  for (unsigned i = 0; i < limits::ejection_failures; ++i) {
    EXPECT_FALSE(ejects);
    ejects = health.failed(ErrorKind::disconnected, at(1));
  }
  EXPECT_TRUE(ejects);
}

}  // namespace
}  // namespace ringside::sidecar
