#include "hop/access_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/limits.h"

namespace ringside::hop {
namespace {

using testing::HasSubstr;

const SystemClock clock;

AccessRecord some_record() {
  AccessRecord record;
  record.time = TimePoint(Seconds(971'184'936));
  record.client = *IpAddress::parse("192.0.2.7");
  record.request = "GET /a?b=c HTTP/1.1";
  record.host = "example.com";
  record.referer = "http://example.com/";
  record.user_agent = "curl/8";
  record.status = 200;
  record.body_bytes = 512;
  record.duration = std::chrono::microseconds(1'000'412);
  record.result = "hit";
  record.replica = "cache-3";
  record.country = {'G', 'B'};
  return record;
}

std::string line_of(const AccessRecord& record) {
  std::string line;
  append_log_line(line, record);
  return line;
}

TEST(AccessRecord, IsALineOfTheCombinedLogFormat) {
  EXPECT_EQ(line_of(some_record()),
            "192.0.2.7 - - [10/Oct/2000:13:35:36 +0000] \"GET /a?b=c HTTP/1.1\" 200 512 "
            "\"http://example.com/\" \"curl/8\" host=\"example.com\" time=1.000412 result=hit "
            "replica=cache-3 country=GB\n");
}

TEST(AccessRecord, WhatIsNotThereIsADash) {
  AccessRecord record;
  record.client = *IpAddress::parse("2001:db8::7");
  EXPECT_EQ(line_of(record),
            "2001:db8::7 - - [01/Jan/1970:00:00:00 +0000] \"-\" - 0 \"-\" \"-\" host=\"-\" "
            "time=0.000000 result=- replica=- country=ZZ\n");
}

struct Forgery {
  const char* name;
  std::string said;
  const char* written;
};

// Whatever a client says, it is one line with as many quotes as any other.
TEST(AccessRecord, NobodyForgesALine) {
  const Forgery table[] = {
      {"quote", "a\" 200 1 \"-\" \"-\"", R"(a\" 200 1 \"-\" \"-\")"},
      {"backslash before the closing quote", "a\\", R"(a\\)"},
      {"escaped quote", "a\\\"", R"(a\\\")"},
      {"LF", "a\n1.2.3.4 - - [x]", R"(a\x0a1.2.3.4 - - [x])"},
      {"CR", "a\rb", R"(a\x0db)"},
      {"NUL", std::string("a\0b", 3), R"(a\x00b)"},
      {"escape sequence of a terminal", "\x1b[2J", R"(\x1b[2J)"},
      {"DEL", "\x7f", R"(\x7f)"},
      {"C1 control", "\x9b", R"(\x9b)"},
      {"UTF-8", "caf\xc3\xa9", R"(caf\xc3\xa9)"},
      {"line separator", "\xe2\x80\xa8", R"(\xe2\x80\xa8)"},
      {"bracket", "] \\\"", R"(] \\\")"},
  };
  for (const Forgery& row : table) {
    for (std::string AccessRecord::*field : {&AccessRecord::request, &AccessRecord::host,
                                             &AccessRecord::referer, &AccessRecord::user_agent}) {
      AccessRecord record = some_record();
      record.*field = row.said;
      const std::string line = line_of(record);
      EXPECT_THAT(line, HasSubstr(std::string("\"") + row.written + "\"")) << row.name;
      EXPECT_EQ(line.find('\n'), line.size() - 1) << row.name;
      EXPECT_TRUE(std::all_of(line.begin(), line.end() - 1, [](char c) {
        return c >= 0x20 && c <= 0x7e;
      })) << row.name;
    }
  }
}

TEST(AccessRecord, TakesWhatItNeedsOfAHeadAndForgetsTheLast) {
  AccessRecord record = some_record();
  http::RequestHead head;
  head.method = "HEAD";
  head.target = "http://example.com/x";
  head.host = "example.com";
  head.minor_version = 0;
  head.fields.add("user-AGENT", "x");
  record.begin(TimePoint(Seconds(1)), *IpAddress::parse("::1"), &head);
  EXPECT_EQ(record.request, "HEAD http://example.com/x HTTP/1.0");
  EXPECT_EQ(record.user_agent, "x");
  EXPECT_EQ(record.referer, "");
  EXPECT_EQ(record.replica, "");
  EXPECT_EQ(record.status, 0);
  record.begin(TimePoint(Seconds(1)), *IpAddress::parse("::1"), nullptr);
  EXPECT_EQ(record.request, "");
  EXPECT_EQ(record.user_agent, "");
}

TEST(AccessRecord, HasNoCountryButCountries) {
  AccessRecord record;
  for (const auto& [said, written] :
       {std::pair{"GB", "GB"}, {"", "ZZ"}, {"gb", "ZZ"}, {"GBR", "ZZ"}, {"\"\n", "ZZ"}}) {
    record.end("hit", said, std::chrono::microseconds(1), 2);
    EXPECT_TRUE(line_of(record).ends_with(
        fmt::format(" time=0.000001 result=hit replica=- country={}\n", written)))
        << line_of(record);
  }
}

TEST(AccessRecord, LongFieldsAreCutAndSaySo) {
  const std::string longest = "/" + std::string(limits::access_log_field_size_bytes - 1, 'a');
  AccessRecord record;
  http::RequestHead head;
  head.method = "GET";
  head.target = longest;
  record.begin({}, {}, &head);
  EXPECT_EQ(record.request, "GET " + longest + " HTTP/1.1");
  const std::string longer = longest + "b";
  head.target = longer;
  head.fields.add("Referer", longer);
  record.begin({}, {}, &head);
  EXPECT_EQ(record.request, "GET " + longest + " ... HTTP/1.1");
  EXPECT_EQ(record.referer, longest + " ...");
}

class AccessLogTest : public testing::Test {
 protected:
  AccessLogTest() {
    std::string name = std::filesystem::temp_directory_path() / "ringside-log-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~AccessLogTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name = "access.log") const { return folder_ / name; }
  std::unique_ptr<AccessLog> open(const std::string& file, std::size_t cores = 1) {
    auto log = AccessLog::open(file, cores, clock);
    EXPECT_TRUE(log) << log.error().message;
    return *std::move(log);
  }
  static void write(AccessLog& log, const std::string& request, std::size_t core = 0) {
    AccessRecord record = some_record();
    record.request = request;
    log.queue(core).write(record);
  }
  static std::string contents(const std::string& file) {
    std::ostringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
  }
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  template <class Condition>
  static void wait_until(Condition condition) {
    while (!condition()) std::this_thread::yield();
  }

  std::filesystem::path folder_;
};

TEST_F(AccessLogTest, EveryCoresLinesAreThereWhenItHasStopped) {
  constexpr std::size_t cores = 3;
  constexpr int each = 5000;
  auto log = open(path(), cores);
  std::vector<std::thread> threads;
  for (std::size_t core = 0; core < cores; ++core) {
    threads.emplace_back([&log, core] {
      for (int i = 0; i < each; ++i) write(*log, fmt::format("GET /{}/{} HTTP/1.1", core, i), core);
    });
  }
  for (auto& thread : threads) thread.join();
  log->stop();
  const auto figures = log->figures();
  EXPECT_EQ(figures.dropped, 0U);
  EXPECT_EQ(figures.written, cores * each);
  std::vector<int> next(cores, 0);  // each core's in order
  for (const std::string& line : lines(contents(path()))) {
    const auto core = static_cast<std::size_t>(line.at(line.find("GET /") + 5) - '0');
    EXPECT_THAT(line, HasSubstr(fmt::format("\"GET /{}/{} HTTP/1.1\"", core, next.at(core)++)));
    EXPECT_TRUE(line.ends_with("country=GB"));
  }
  EXPECT_EQ(next, std::vector<int>(cores, each));
}

TEST_F(AccessLogTest, ALineComesWithoutAnotherRequest) {
  auto log = open(path());
  write(*log, "GET /a HTTP/1.1");
  wait_until([&] { return log->figures().written == 1; });
  EXPECT_THAT(contents(path()), HasSubstr("GET /a"));
}

TEST_F(AccessLogTest, APipeThatNobodyReadsDropsAndNeverWaits) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  auto log = open(path());
  constexpr std::uint64_t least = 3 * limits::access_log_records;
  std::uint64_t sent = 0;
  // More than the pipe, the batch and the queue hold: what is beyond them must be dropped.
  while (log->figures().dropped < 100 || sent < least) {
    write(*log, "GET /a HTTP/1.1");
    ++sent;
  }
  log->stop();  // nor does the end wait
  const auto figures = log->figures();
  EXPECT_EQ(figures.written + figures.dropped, sent);
  EXPECT_GT(figures.written, 0U);
  EXPECT_EQ(figures.failures, 0U);
}

TEST_F(AccessLogTest, APipeThatIsReadAgainGetsWholeLines) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  auto log = open(path());
  while (log->figures().dropped < 100) write(*log, "GET /early HTTP/1.1");
  const int reader = ::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  std::string text;
  const auto drain = [&] {
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = ::read(reader, piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
  };
  const auto early = log->figures().written;
  wait_until([&] {
    drain();
    return log->figures().written > early + 1000;
  });
  // The queue has room again.
  const auto dropped = log->figures().dropped;
  write(*log, "GET /late HTTP/1.1");
  wait_until([&] {
    drain();
    return text.find("GET /late") != std::string::npos;
  });
  EXPECT_EQ(log->figures().dropped, dropped);
  log->stop();
  drain();
  ::close(reader);
  EXPECT_TRUE(text.ends_with('\n'));
  const auto got = lines(text);
  EXPECT_EQ(got.size(), log->figures().written);
  for (const std::string& line : got) {
    EXPECT_TRUE(line.starts_with("192.0.2.7 - - [") && line.ends_with("country=GB")) << line;
  }
}

TEST_F(AccessLogTest, AFullDiskIsCountedAndSurvived) {
  auto log = open("/dev/full");
  write(*log, "GET /a HTTP/1.1");
  wait_until([&] { return log->figures().dropped == 1; });
  write(*log, "GET /b HTTP/1.1");
  wait_until([&] { return log->figures().dropped == 2; });
  log->stop();
  EXPECT_EQ(log->figures().written, 0U);
  EXPECT_EQ(log->figures().failures, 2U);
}

TEST_F(AccessLogTest, ARenamedFileIsLetGo) {
  auto log = open(path());
  write(*log, "GET /old HTTP/1.1");
  wait_until([&] { return log->figures().written == 1; });
  std::filesystem::rename(path(), path("access.log.1"));
  log->reopen();
  wait_until([&] { return std::filesystem::exists(path()); });
  write(*log, "GET /new HTTP/1.1");
  log->stop();
  EXPECT_EQ(lines(contents(path("access.log.1"))).size(), 1U);
  EXPECT_EQ(lines(contents(path())).size(), 1U);
  EXPECT_THAT(contents(path()), HasSubstr("/new"));
}

TEST_F(AccessLogTest, WhereOpeningAgainFailsTheOldFileStays) {
  std::filesystem::create_directory(folder_ / "logs");
  auto log = open(path("logs/access.log"));
  std::filesystem::rename(folder_ / "logs", folder_ / "gone");
  log->reopen();
  wait_until([&] { return log->figures().failures == 1; });
  write(*log, "GET /a HTTP/1.1");
  log->stop();
  EXPECT_THAT(contents(path("gone/access.log")), HasSubstr("/a"));
}

TEST_F(AccessLogTest, ACheckMakesNoFile) {
  EXPECT_TRUE(AccessLog::check(path("later.log")));
  EXPECT_FALSE(std::filesystem::exists(path("later.log")));
  EXPECT_TRUE(AccessLog::check("-"));
}

TEST_F(AccessLogTest, WhatCantBeOpenedIsNamedWithTheRemedy) {
  for (const std::string& file : {path("none/access.log"), folder_.string()}) {
    const auto log = AccessLog::open(file, 1, clock);
    ASSERT_FALSE(log);
    EXPECT_THAT(log.error().message, HasSubstr(file + ": "));
    EXPECT_THAT(log.error().message, HasSubstr("name a file that can be written to"));
    const auto checked = AccessLog::check(file);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().message, log.error().message);
  }
}

}  // namespace
}  // namespace ringside::hop
