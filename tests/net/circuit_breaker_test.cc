#include "net/circuit_breaker.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside::net {
namespace {

using State = CircuitBreaker::State;
using Outcome = CircuitBreaker::Outcome;

constexpr SteadyPoint start{Milliseconds{1'000'000}};

// Asks and settles at once; false: it was not let through.
bool pass(CircuitBreaker& breaker, Outcome outcome, SteadyPoint now) {
  const auto permit = breaker.ask(now);
  if (permit.granted) breaker.settle(permit, outcome, now);
  return permit.granted;
}

CircuitBreaker opened() {
  CircuitBreaker breaker;
  for (unsigned i = 0; i < limits::breaker_failures; ++i) pass(breaker, Outcome::failed, start);
  return breaker;
}

TEST(CircuitBreaker, OpensOnlyAfterFailuresInARow) {
  struct Case {
    std::string outcomes;  // f: failed, a: answered, u: undecided
    State state;
  };
  static_assert(limits::breaker_failures == 5);
  for (const Case& one : std::vector<Case>{{"", State::closed},
                                           {"ffff", State::closed},
                                           {"fffff", State::open},
                                           {"ffffaffff", State::closed},
                                           {"ffffafffff", State::open},
                                           {"ffffuf", State::open},
                                           {"uuuuuuuu", State::closed}}) {
    CircuitBreaker breaker;
    for (const char c : one.outcomes) {
      const auto outcome = c == 'f'   ? Outcome::failed
                           : c == 'a' ? Outcome::answered
                                      : Outcome::undecided;
      EXPECT_TRUE(pass(breaker, outcome, start)) << one.outcomes;
    }
    EXPECT_EQ(breaker.state(start), one.state) << one.outcomes;
    EXPECT_EQ(breaker.would_grant(start), one.state == State::closed) << one.outcomes;
  }
}

TEST(CircuitBreaker, IsHalfOpenWhenItsTimeIsOver) {
  CircuitBreaker breaker = opened();
  const SteadyPoint until = start + limits::breaker_open_start;
  EXPECT_EQ(breaker.time_to_probe(start), limits::breaker_open_start);
  EXPECT_FALSE(breaker.ask(until - Milliseconds{1}).granted);
  EXPECT_EQ(breaker.time_to_probe(until - Milliseconds{1}), Milliseconds{1});
  EXPECT_EQ(breaker.state(until), State::half_open);
  EXPECT_EQ(breaker.time_to_probe(until), Milliseconds{0});
}

TEST(CircuitBreaker, LetsExactlyOneProbeThroughAtATime) {
  CircuitBreaker breaker = opened();
  const SteadyPoint later = start + limits::breaker_open_start;
  const auto probe = breaker.ask(later);
  EXPECT_TRUE(probe.granted && probe.probe);
  EXPECT_FALSE(breaker.ask(later).granted);
  EXPECT_FALSE(breaker.ask(later + Seconds{100}).granted);
  // A probe that was given up makes room for the next, and decides nothing.
  EXPECT_FALSE(breaker.settle(probe, Outcome::undecided, later));
  EXPECT_EQ(breaker.state(later), State::half_open);
  const auto next = breaker.ask(later);
  EXPECT_TRUE(next.granted && next.probe);
  EXPECT_FALSE(breaker.settle(next, Outcome::answered, later));
  EXPECT_EQ(breaker.state(later), State::closed);
  EXPECT_FALSE(breaker.ask(later).probe);
}

TEST(CircuitBreaker, StaysOpenForTwiceAsLongAfterEachFailedProbeUpToItsMost) {
  CircuitBreaker breaker = opened();
  SteadyPoint now = start;
  for (const int expected_ms : {500, 1000, 2000, 4000, 8000, 10'000, 10'000}) {
    EXPECT_EQ(breaker.time_to_probe(now), Milliseconds{expected_ms});
    now += Milliseconds{expected_ms};
    const auto probe = breaker.ask(now);
    ASSERT_TRUE(probe.probe);
    EXPECT_TRUE(breaker.settle(probe, Outcome::failed, now));
  }
  // After a success it begins anew.
  now += limits::breaker_open_most;
  ASSERT_TRUE(pass(breaker, Outcome::answered, now));
  for (unsigned i = 0; i < limits::breaker_failures; ++i) pass(breaker, Outcome::failed, now);
  EXPECT_EQ(breaker.time_to_probe(now), limits::breaker_open_start);
}

TEST(CircuitBreaker, WhatBeganBeforeTheLastChangeSaysNothing) {
  CircuitBreaker breaker;
  std::vector<CircuitBreaker::Permit> late;
  for (int i = 0; i < 20; ++i) late.push_back(breaker.ask(start));
  for (unsigned i = 0; i < limits::breaker_failures; ++i) {
    breaker.settle(late[i], Outcome::failed, start);
  }
  ASSERT_EQ(breaker.state(start), State::open);
  breaker.settle(late[6], Outcome::answered, start);
  EXPECT_EQ(breaker.state(start), State::open);
  const SteadyPoint later = start + limits::breaker_open_start;
  const auto probe = breaker.ask(later);
  breaker.settle(late[7], Outcome::failed, later);  // is not taken for the probe's
  EXPECT_FALSE(breaker.ask(later).granted);
  breaker.settle(probe, Outcome::answered, later);
  for (std::size_t i = 8; i < late.size(); ++i) breaker.settle(late[i], Outcome::failed, later);
  EXPECT_EQ(breaker.state(later), State::closed);
}

TEST(CircuitBreaker, WhatCountsAsAFailure) {
  struct Case {
    ErrorKind kind;
    ErrorSource source;
    Milliseconds given;
    bool failure;
  };
  constexpr Milliseconds fair{1000};
  for (const Case& one :
       std::vector<Case>{{ErrorKind::refused, ErrorSource::origin, Milliseconds{0}, true},
                         {ErrorKind::unresolved, ErrorSource::origin, Milliseconds{0}, true},
                         {ErrorKind::untrusted, ErrorSource::origin, Milliseconds{0}, true},
                         {ErrorKind::disconnected, ErrorSource::origin, Milliseconds{0}, true},
                         {ErrorKind::disconnected, ErrorSource::peer, Milliseconds{0}, true},
                         {ErrorKind::timeout, ErrorSource::origin, fair, true},
                         {ErrorKind::timeout, ErrorSource::origin, fair - Milliseconds{1}, false},
                         {ErrorKind::malformed, ErrorSource::origin, fair, false},
                         {ErrorKind::head_too_large, ErrorSource::origin, fair, false},
                         {ErrorKind::disconnected, ErrorSource::client, fair, false},
                         {ErrorKind::timeout, ErrorSource::client, fair, false},
                         {ErrorKind::overloaded, ErrorSource::ourselves, fair, false}}) {
    const Error error{one.kind, one.source, Retry::no, ""};
    EXPECT_EQ(is_failure(error, one.given, fair), one.failure)
        << name(one.kind) << ' ' << name(one.source) << ' ' << one.given.count();
  }
}

}  // namespace
}  // namespace ringside::net
