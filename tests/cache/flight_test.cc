#include "cache/flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

#include "base/limits.h"
#include "tests/cache/some_response.h"
#include "tests/support/fake_clock.h"
#include "tests/support/on_core.h"
#include "tests/support/scripted_peer.h"

namespace ringside::cache {
namespace {

using support::eventually;
using support::start_on;

PiecePointer piece_of(std::string_view bytes) { return std::make_shared<const Piece>(bytes); }

std::shared_ptr<const StoredHead> some_head() { return response_of("")->head; }

std::shared_ptr<Flight> some_flight() {
  return std::make_shared<Flight>(CacheKey{"k", 1, 1}, std::string{}, 0);
}

// What one reader saw.
struct Seen {
  bool joined = false;
  bool head_came = false;
  std::string body;
  std::optional<Error> error;
};

class FlightTest : public testing::Test {
 protected:
  FlightTest() { cores_.start(); }
  ~FlightTest() override { cores_.stop(); }

  SteadyPoint far() { return clock_.steady_now() + Milliseconds{60'000}; }

  // Reads a flight from its head to its end.
  std::future<void> follow(std::size_t core, const std::shared_ptr<Flight>& flight, Seen& seen) {
    return start_on(cores_[core], [this, core, flight, &seen]() -> Task<void> {
      Flight::Reader reader(flight, cores_[core]);
      seen.joined = reader.joined();
      joined_.fetch_add(1);
      seen.head_came = co_await reader.wait_for_head(far());
      if (!seen.head_came || flight->answer().head == nullptr) co_return;
      while (true) {
        const auto taken = co_await reader.next(Milliseconds{30'000});
        if (!taken) seen.error = taken.error();
        if (!taken) co_return;
        for (const PiecePointer& piece : taken->pieces) seen.body += piece->bytes();
        pieces_read_.fetch_add(taken->pieces.size());
        if (taken->last) co_return;
      }
    });
  }

  support::FakeClock clock_;
  net::CoreGroup cores_{"flight", 2, clock_};
  std::atomic<std::size_t> joined_{0};
  std::atomic<std::size_t> pieces_read_{0};
};

TEST_F(FlightTest, OneLeaderManyFollowersOnTwoCores) {
  constexpr std::size_t readers = 40;
  const auto flight = some_flight();
  std::vector<Seen> seen(readers);
  std::vector<std::future<void>> ends;
  for (std::size_t index = 0; index < readers; ++index) {
    ends.push_back(follow(index % 2, flight, seen[index]));
  }
  ASSERT_TRUE(eventually([&] { return joined_ == readers; }));
  flight->publish({some_head(), 3, std::nullopt});
  flight->append(piece_of("a"));
  // They have the beginning before there is an end.
  EXPECT_TRUE(eventually([&] { return pieces_read_ == readers; }));
  flight->append(piece_of("b"));
  flight->append(piece_of("c"));
  flight->finish();
  for (auto& end : ends) end.get();
  for (const Seen& one : seen) {
    EXPECT_TRUE(one.joined && one.head_came);
    EXPECT_EQ(one.body, "abc");
    EXPECT_FALSE(one.error);
  }
}

TEST_F(FlightTest, WhoJoinsLateReadsAllOfIt) {
  const auto flight = some_flight();
  flight->publish({some_head(), std::nullopt, std::nullopt});
  flight->append(piece_of("a"));
  Seen streaming;
  auto end = follow(0, flight, streaming);
  EXPECT_TRUE(eventually([&] { return pieces_read_ == 1; }));
  flight->append(piece_of("b"));
  flight->finish();
  end.get();
  EXPECT_EQ(streaming.body, "ab");
  Seen after;
  follow(1, flight, after).get();
  EXPECT_TRUE(after.joined);
  EXPECT_EQ(after.body, "ab");
}

TEST_F(FlightTest, FailureReachesAllBeforeAndAfterTheHead) {
  const Error broken{ErrorKind::malformed, ErrorSource::origin, Retry::no, "broken"};
  for (const bool has_head : {false, true}) {
    joined_ = pieces_read_ = 0;
    const auto flight = some_flight();
    std::vector<Seen> seen(6);
    std::vector<std::future<void>> ends;
    for (std::size_t index = 0; index < seen.size(); ++index) {
      ends.push_back(follow(index % 2, flight, seen[index]));
    }
    ASSERT_TRUE(eventually([&] { return joined_ == seen.size(); }));
    if (has_head) {
      flight->publish({some_head(), std::nullopt, std::nullopt});
      flight->append(piece_of("a"));
      ASSERT_TRUE(eventually([&] { return pieces_read_ == seen.size(); }));
    }
    flight->fail(broken);
    for (auto& end : ends) end.get();
    EXPECT_EQ(flight->state(), Flight::State::failed);
    EXPECT_EQ(flight->error().message, "broken");
    for (const Seen& one : seen) {
      EXPECT_TRUE(one.head_came);  // or the end without one
      EXPECT_EQ(one.error.has_value(), has_head);
      EXPECT_EQ(one.body, has_head ? "a" : "");
    }
  }
}

TEST_F(FlightTest, ReleaseAndCompletionReachAll) {
  const auto released = some_flight();
  const auto completed = some_flight();
  std::vector<Seen> seen(4);
  std::vector<std::future<void>> ends;
  for (std::size_t index = 0; index < seen.size(); ++index) {
    ends.push_back(follow(index % 2, index < 2 ? released : completed, seen[index]));
  }
  ASSERT_TRUE(eventually([&] { return joined_ == seen.size(); }));
  released->release();
  const auto response = response_of("stored");
  completed->complete(response, Flight::Completion::confirmed);
  for (auto& end : ends) end.get();
  EXPECT_EQ(released->state(), Flight::State::released);
  EXPECT_EQ(released->answer().head, nullptr);
  EXPECT_EQ(completed->complete_response(), response);
  EXPECT_EQ(completed->answer().head, response->head);
  for (const Seen& one : seen) EXPECT_TRUE(one.head_came);
}

TEST_F(FlightTest, NobodyWaitsPastADeadline) {
  const auto asking = some_flight();
  Seen head;
  auto head_end = follow(0, asking, head);
  ASSERT_TRUE(eventually([&] { return joined_ == 1; }));
  const auto stuck = some_flight();
  stuck->publish({some_head(), std::nullopt, std::nullopt});
  stuck->append(piece_of("a"));
  Seen body;
  auto body_end = follow(1, stuck, body);
  ASSERT_TRUE(eventually([&] { return pieces_read_ == 1; }));
  clock_.advance(Milliseconds{60'001});
  head_end.get();
  body_end.get();
  EXPECT_FALSE(head.head_came);
  ASSERT_TRUE(body.error);
  EXPECT_EQ(body.error->kind, ErrorKind::timeout);
}

TEST_F(FlightTest, NobodyJoinsOnceBytesWereLetGo) {
  const auto flight = some_flight();
  flight->publish({some_head(), std::nullopt, std::nullopt});
  flight->append(piece_of("a"));
  Seen early;
  auto early_end = follow(0, flight, early);
  ASSERT_TRUE(eventually([&] { return pieces_read_ == 1; }));
  flight->stop_keeping();
  flight->append(piece_of("b"));
  bool late_joined = true;
  support::run_on(cores_[1], [&, flight]() -> Task<void> {
    const Flight::Reader late(flight, cores_[1]);
    late_joined = late.joined();
    co_return;
  });
  EXPECT_FALSE(late_joined);
  flight->finish();
  early_end.get();
  EXPECT_EQ(early.body, "ab");
}

TEST_F(FlightTest, AnUnstoredFlightRunsAheadByItsWindowOnly) {
  constexpr std::size_t piece_bytes = 64 * limits::kKiB;
  constexpr std::size_t pieces = 64;
  const std::string bytes(piece_bytes, 'x');
  const auto flight = some_flight();
  flight->publish({some_head(), std::nullopt, std::nullopt});
  std::atomic<std::size_t> appended{0};
  std::atomic<std::size_t> taken{0};
  std::atomic<std::size_t> furthest{0};
  std::atomic<bool> begin{false};
  auto reading = start_on(cores_[1], [&, flight]() -> Task<void> {
    Flight::Reader reader(flight, cores_[1]);
    net::Waiter pause(cores_[1]);
    joined_.fetch_add(1);
    while (!begin) {
      pause.bell()->wake();  // lets the core's other work run in between
      co_await pause.wait(far());
    }
    while (true) {
      const auto got = co_await reader.next(Milliseconds{30'000});
      if (!got) co_return;
      taken.fetch_add(got->pieces.size());
      if (got->last) co_return;
    }
  });
  ASSERT_TRUE(eventually([&] { return joined_ == 1; }));
  flight->stop_keeping();
  bool had_room = true;
  auto leading = start_on(cores_[0], [&, flight]() -> Task<void> {
    net::Waiter room(cores_[0]);
    for (std::size_t index = 0; index < pieces && had_room; ++index) {
      furthest = std::max(furthest.load(), appended.load() - taken.load());
      flight->append(piece_of(bytes));
      appended.fetch_add(1);
      had_room = co_await flight->wait_for_room(room, Milliseconds{30'000});
    }
    flight->finish();
  });
  constexpr std::size_t window_pieces = limits::flight_window_bytes / piece_bytes;
  EXPECT_TRUE(eventually([&] { return appended == window_pieces + 1; }));
  begin = true;
  leading.get();
  reading.get();
  EXPECT_TRUE(had_room);
  EXPECT_EQ(taken, pieces);
  // `taken` is counted after the flight knows of it: one batch is what it may lag behind.
  EXPECT_LE(furthest, window_pieces + 1 + limits::flight_pieces_at_once);
}

// Two readers: one takes everything at once, the other nothing until the end.
TEST_F(FlightTest, ASlowReaderOfAnUnstoredFlightIsLeftBehindAndHoldsUpNobody) {
  constexpr std::size_t piece_bytes = 64 * limits::kKiB;
  constexpr std::size_t pieces = 2 * limits::flight_lag_bytes / piece_bytes;
  const auto flight = some_flight();
  flight->publish({some_head(), std::nullopt, std::nullopt});
  Seen fast;
  auto fast_end = follow(0, flight, fast);
  std::unique_ptr<Flight::Reader> slow;
  support::run_on(cores_[1], [&]() -> Task<void> {
    slow = std::make_unique<Flight::Reader>(flight, cores_[1]);
    co_return;
  });
  ASSERT_TRUE(eventually([&] { return joined_ == 1; }));
  flight->stop_keeping();
  bool had_room = true;
  auto leading = start_on(cores_[0], [&, flight]() -> Task<void> {
    net::Waiter room(cores_[0]);
    for (std::size_t index = 0; index < pieces && had_room; ++index) {
      flight->append(piece_of(std::string(piece_bytes, static_cast<char>('a' + index % 26))));
      had_room = co_await flight->wait_for_room(room, Milliseconds{30'000});
    }
    flight->finish();
  });
  // It is waited for, but not for longer than the patience.
  ASSERT_TRUE(eventually([&] {
    clock_.advance(Milliseconds{5});
    return leading.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }));
  fast_end.get();
  EXPECT_TRUE(had_room);
  EXPECT_EQ(fast.body.size(), pieces * piece_bytes);
  support::run_on(cores_[1], [&]() -> Task<void> {
    const auto late = co_await slow->next(Milliseconds{30'000});
    EXPECT_FALSE(late);
    EXPECT_TRUE(slow->left_behind());
    EXPECT_EQ(slow->offset_bytes(), 0U);
    slow.reset();
  });
}

// The leader stops for who is far behind, and goes on when they have caught up: nobody is lost.
TEST_F(FlightTest, AReaderThatCatchesUpInTimeIsNotLeftBehind) {
  const std::string bytes(limits::flight_lag_bytes + 1, 'x');
  const auto flight = some_flight();
  flight->publish({some_head(), std::nullopt, std::nullopt});
  Seen fast;
  auto fast_end = follow(0, flight, fast);
  std::unique_ptr<Flight::Reader> slow;
  support::run_on(cores_[1], [&]() -> Task<void> {
    slow = std::make_unique<Flight::Reader>(flight, cores_[1]);
    co_return;
  });
  ASSERT_TRUE(eventually([&] { return joined_ == 1; }));
  flight->stop_keeping();
  std::atomic<bool> had_room{false};
  flight->append(piece_of(bytes));
  auto leading = start_on(cores_[0], [&, flight]() -> Task<void> {
    net::Waiter room(cores_[0]);
    had_room = co_await flight->wait_for_room(room, Milliseconds{30'000});
    flight->finish();
  });
  ASSERT_TRUE(eventually([&] { return pieces_read_ == 1; }));
  EXPECT_FALSE(had_room);
  support::run_on(cores_[1], [&]() -> Task<void> {
    const auto late = co_await slow->next(Milliseconds{30'000});
    EXPECT_TRUE(late);
    EXPECT_FALSE(slow->left_behind());
  });
  leading.get();
  EXPECT_TRUE(had_room);
  fast_end.get();
  support::run_on(cores_[1], [&]() -> Task<void> {
    slow.reset();
    co_return;
  });
}

TEST_F(FlightTest, AReaderThatIsNotFarBehindGetsEverything) {
  const auto flight = some_flight();
  flight->publish({some_head(), std::nullopt, std::nullopt});
  Seen fast;
  auto fast_end = follow(0, flight, fast);
  std::unique_ptr<Flight::Reader> slow;
  support::run_on(cores_[1], [&]() -> Task<void> {
    slow = std::make_unique<Flight::Reader>(flight, cores_[1]);
    co_return;
  });
  ASSERT_TRUE(eventually([&] { return joined_ == 1; }));
  flight->stop_keeping();
  const std::string bytes(limits::flight_window_bytes / 4, 'x');
  for (unsigned index = 0; index < 4; ++index) flight->append(piece_of(bytes));
  ASSERT_TRUE(eventually([&] { return pieces_read_ == 4; }));
  flight->finish();
  fast_end.get();
  std::size_t got = 0;
  support::run_on(cores_[1], [&]() -> Task<void> {
    while (true) {
      const auto next = co_await slow->next(Milliseconds{30'000});
      EXPECT_TRUE(next);
      if (!next) break;
      for (const PiecePointer& piece : next->pieces) got += piece->bytes().size();
      if (next->last) break;
    }
    slow.reset();
  });
  EXPECT_EQ(got, limits::flight_window_bytes);
}

TEST_F(FlightTest, AnUnstoredFlightEndsWithItsLastReader) {
  const auto flight = some_flight();
  flight->publish({some_head(), std::nullopt, std::nullopt});
  flight->append(piece_of(std::string(limits::flight_window_bytes + 1, 'x')));
  std::atomic<bool> waits{false};
  bool had_room = true;
  std::unique_ptr<Flight::Reader> reader;
  support::run_on(cores_[1], [&]() -> Task<void> {
    reader = std::make_unique<Flight::Reader>(flight, cores_[1]);
    co_return;
  });
  flight->stop_keeping();
  auto leading = start_on(cores_[0], [&, flight]() -> Task<void> {
    net::Waiter room(cores_[0]);
    waits = true;
    had_room = co_await flight->wait_for_room(room, Milliseconds{30'000});
  });
  ASSERT_TRUE(eventually([&] { return waits.load(); }));
  support::run_on(cores_[1], [&]() -> Task<void> {
    reader.reset();
    co_return;
  });
  leading.get();
  EXPECT_FALSE(had_room);
}

TEST_F(FlightTest, AStopEndsEveryWait) {
  const auto flight = some_flight();
  Seen seen;
  auto end = follow(0, flight, seen);
  ASSERT_TRUE(eventually([&] { return joined_ == 1; }));
  cores_.stop();
  end.get();
  EXPECT_FALSE(seen.head_came);
}

}  // namespace
}  // namespace ringside::cache
