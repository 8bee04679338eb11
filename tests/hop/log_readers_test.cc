#include "hop/log_readers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/limits.h"
#include "hop/access_log.h"
#include "tests/support/system_clock.h"

namespace ringside::hop {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr SteadyPoint began{std::chrono::seconds{1'000}};

AccessRecord record_of(std::string request = "GET /a HTTP/1.1") {
  AccessRecord record;
  record.client = *IpAddress::parse("192.0.2.7");
  record.request = std::move(request);
  record.status = 404;
  record.duration = std::chrono::milliseconds(250);
  record.result = "miss";
  record.replica = "cache-3";
  record.country = {'G', 'B'};
  return record;
}

// What a reader is told within some time, of a log whose queues are written to already.
LogReader::Taken followed_until(AccessLog& log, const std::string& name, std::size_t lines) {
  LogReader::Taken all;
  const SteadyPoint end = support::system_clock.steady_now() + std::chrono::seconds{30};
  while (support::system_clock.steady_now() < end &&
         static_cast<std::size_t>(std::count(all.lines.begin(), all.lines.end(), '\n')) < lines) {
    const auto taken = log.follow(name, {});
    if (!taken) break;
    all.lines += taken->lines;
    all.dropped += taken->dropped;
    std::this_thread::yield();
  }
  return all;
}

TEST(LogFilter, TakesWhatAllOfItIsTrueOf) {
  struct Row {
    const char* what;
    LogFilter filter;
    bool matches;
  };
  using std::chrono::milliseconds;
  const Row rows[] = {
      {"any", {}, true},
      {"its country", {.country = "GB"}, true},
      {"another country", {.country = "FR"}, false},
      {"its replica", {.replica = "cache-3"}, true},
      {"a replica whose name begins so", {.replica = "cache"}, false},
      {"its result", {.result = "miss"}, true},
      {"another result", {.result = "hit"}, false},
      {"its status", {.status_first = 404, .status_last = 404}, true},
      {"its class", {.status_first = 400, .status_last = 499}, true},
      {"another class", {.status_first = 500, .status_last = 599}, false},
      {"a lower bound", {.slower_than = milliseconds(249)}, true},
      {"its own duration", {.slower_than = milliseconds(250)}, false},
      {"one of two", {.country = "GB", .result = "hit"}, false},
      {"both", {.country = "GB", .result = "miss"}, true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.filter.matches(record_of()), row.matches) << row.what;
  }
}

TEST(LogReader, IsToldOfSoManyAtATimeAndHowManyMore) {
  LogReader reader("me", {});
  std::size_t claimed = 0;
  for (std::size_t i = 0; i < limits::log_reader_lines + 7; ++i) {
    if (!reader.claim(record_of(), true)) continue;
    reader.append("line\n");
    ++claimed;
  }
  EXPECT_EQ(claimed, limits::log_reader_lines);
  EXPECT_EQ(reader.take().dropped, 7U);
  EXPECT_TRUE(reader.claim(record_of(), true)) << "there is room again";
  EXPECT_EQ(reader.take().dropped, 0U);
}

TEST(LogReader, CountsWhatTheQueueHasNoRoomFor) {
  LogReader reader("me", {});
  EXPECT_FALSE(reader.claim(record_of(), false));
  EXPECT_EQ(reader.take().dropped, 1U);
}

TEST(LogReader, KeepsNoMoreThanItsBytes) {
  LogReader reader("me", {});
  const std::string line(limits::log_reader_size_bytes / 2 + 1, 'x');
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(reader.claim(record_of(), true));
    reader.append(line);
  }
  const auto taken = reader.take();
  EXPECT_EQ(taken.lines.size(), line.size());
  EXPECT_EQ(taken.dropped, 1U);
  for (std::size_t i = 0; i < limits::log_reader_lines; ++i) {
    ASSERT_TRUE(reader.claim(record_of(), true)) << "what was dropped takes no room: " << i;
  }
}

TEST(LogReaders, OneMoreThanMayBeIsRefused) {
  LogReaders readers;
  for (std::size_t i = 0; i < limits::log_readers; ++i) {
    ASSERT_TRUE(readers.take(std::to_string(i), {}, began));
  }
  const auto refused = readers.take("one more", {}, began);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::overloaded);
  EXPECT_TRUE(readers.take("0", {}, began)) << "who is there already goes on";
}

TEST(LogReaders, OneThatMissesQuestionsMakesRoom) {
  LogReaders readers;
  for (std::size_t i = 0; i < limits::log_readers; ++i) {
    ASSERT_TRUE(readers.take(std::to_string(i), {}, began));
  }
  const SteadyPoint later = began + limits::log_reader_patience / 2;
  for (std::size_t i = 1; i < limits::log_readers; ++i) {
    ASSERT_TRUE(readers.take(std::to_string(i), {}, later));
  }
  const auto taken = readers.take("one more", {}, later);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->begun);
  EXPECT_FALSE(readers.take("1", {}, later)->begun);
  EXPECT_FALSE(readers.take("0", {}, later)) << "it has ended";
}

TEST(AccessLog, AFileThatTakesNothingKeepsNothingFromThoseWhoFollow) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto log =
      AccessLog::open(fmt::format("/proc/self/fd/{}", ends[1]), 1, support::system_clock);
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_TRUE((*log)->follow("me", {}));
  // Each round is more than a pipe holds, and all together more than a queue.
  constexpr std::size_t lines = 900;
  constexpr std::size_t rounds = 2 * limits::access_log_records / lines;
  AccessRecord record;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < lines; ++i) {
      record = record_of("GET /" + std::string(200, 'x') + " HTTP/1.1");
      (*log)->queue(0).write(record);
    }
    const auto told = followed_until(**log, "me", lines);
    ASSERT_EQ(std::count(told.lines.begin(), told.lines.end(), '\n'), lines) << round;
  }
  EXPECT_GT((*log)->figures().dropped, 0U);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LogReaders, WhoIsSilentIsForgotten) {
  LogReaders readers;
  ASSERT_TRUE(readers.take("me", {}, began));
  EXPECT_TRUE(readers.any());
  readers.forget_silent(began + limits::log_reader_patience);
  EXPECT_TRUE(readers.any());
  readers.forget_silent(began + limits::log_reader_patience + Milliseconds{1});
  EXPECT_FALSE(readers.any());
}

TEST(AccessLog, WithoutAFileNothingIsWantedUntilSomebodyFollows) {
  const auto log = AccessLog::unwritten(1, support::system_clock);
  auto& queue = log->queue(0);
  EXPECT_FALSE(queue.is_wanted());
  ASSERT_TRUE(log->follow("me", {}));
  EXPECT_TRUE(queue.is_wanted());
  AccessRecord record = record_of();
  queue.write(record);
  EXPECT_THAT(followed_until(*log, "me", 1).lines, HasSubstr("\"GET /a HTTP/1.1\" 404"));
  EXPECT_EQ(log->figures().written, 0U) << "there is no file";
}

TEST(AccessLog, WhoHasNoRoomForMoreNeedsNoRecordToBeCounted) {
  const auto log = AccessLog::unwritten(1, support::system_clock);
  auto& queue = log->queue(0);
  ASSERT_TRUE(log->follow("all", {}));
  for (std::size_t i = 0; i < limits::log_reader_lines; ++i) {
    ASSERT_TRUE(queue.is_wanted());
    AccessRecord record = record_of();
    queue.write(record);
  }
  EXPECT_FALSE(queue.is_wanted());
  EXPECT_FALSE(queue.is_wanted());
  ASSERT_TRUE(log->follow("hits", {.result = "hit"}));
  EXPECT_TRUE(queue.is_wanted()) << "this one may have room, and may not be meant";
  EXPECT_EQ(followed_until(*log, "all", limits::log_reader_lines).dropped, 2U);
}

TEST(AccessLog, EachReaderIsToldOfWhatItAskedFor) {
  const auto log = AccessLog::unwritten(1, support::system_clock);
  ASSERT_TRUE(log->follow("all", {}));
  ASSERT_TRUE(log->follow("hits", {.result = "hit"}));
  AccessRecord miss = record_of("GET /miss HTTP/1.1");
  log->queue(0).write(miss);
  AccessRecord hit = record_of("GET /hit HTTP/1.1");
  hit.result = "hit";
  log->queue(0).write(hit);
  const auto all = followed_until(*log, "all", 2);
  EXPECT_THAT(all.lines, HasSubstr("/miss"));
  EXPECT_THAT(all.lines, HasSubstr("/hit"));
  EXPECT_THAT(followed_until(*log, "hits", 1).lines, Not(HasSubstr("/miss")));
}

}  // namespace
}  // namespace ringside::hop
