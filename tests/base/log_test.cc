#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <system_error>
#include <thread>

#include "base/limits.h"
#include "base/log_writer.h"

namespace ringside::log {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

template <class Write>
std::string written_by(Write write) {
  ::testing::internal::CaptureStderr();
  write();
  // Each waits for limits::log_flush at most, which a busy machine may take to start a thread.
  for (int patience = 0; patience < 100; ++patience) flush();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, NoInputCanForgeALine) {
  const std::string out =
      written_by([] { warning("path {}", "/a\n2026-01-01 error forged\r\x1b[31m\t\x7f"); });
  EXPECT_THAT(out, HasSubstr("/a\\x0a2026-01-01 error forged\\x0d\\x1b[31m\\x09\\x7f"));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
  EXPECT_EQ(out.back(), '\n');
}

TEST(Log, KeepsTextThatIsNotAscii) {
  EXPECT_THAT(written_by([] { info("Zürich {{}} {}", 100 % 7); }), HasSubstr("info Zürich {} 2\n"));
}

TEST(Log, BracesInAMessageAreNoFormat) {
  EXPECT_THAT(written_by([] { write(Level::error, "{} {0} %v"); }), HasSubstr("error {} {0} %v\n"));
}

TEST(Log, WritesFromTheThresholdUp) {
  set_level(Level::error);
  EXPECT_THAT(written_by([] { warning("low"); }), IsEmpty());
  EXPECT_THAT(written_by([] { error("high"); }), HasSubstr("high"));
  set_level(Level::info);
  EXPECT_THAT(written_by([] { warning("low"); }), Not(IsEmpty()));
  EXPECT_THAT(written_by([] { write(Level::debug, "lowest"); }), IsEmpty());
}

// Of who comes and goes all night there was a line each time.
TEST(Log, LikeLinesAreFolded) {
  const std::string out = written_by([] {
    for (std::uint64_t i = 0; i < limits::log_same_lines + 3; ++i) warning("cache-7 is away");
  });
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(out.begin(), out.end(), '\n')),
            limits::log_same_lines + 1);
  EXPECT_THAT(out, HasSubstr("warning 3 more of these lines were left out: cache-7 is away\n"));
}

TEST(Log, CutsALineThatIsTooLong) {
  const std::string out = written_by([] { info("{}", std::string(10 * 1024, '\n')); });
  EXPECT_LE(out.size(), limits::log_line_size_bytes);
  EXPECT_TRUE(out.ends_with("\\x0a ...\n"));
}

// It stopped whoever had something to say, and with it the data path.
TEST(LogWriter, APipeThatNobodyReadsStopsNobodyAndIsWrittenWhenItIsRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  static Writer* const writer = new Writer(ends[1]);  // its thread goes on as long as the process
  std::size_t lines = 0;
  // What the pipe takes, what waits, and as much again.
  for (std::size_t bytes = 0; bytes < 3 * limits::log_queue_bytes; ++lines) {
    const std::string line = "line " + std::to_string(lines) + std::string(100, '.') + "\n";
    bytes += line.size();
    writer->write(line);
  }
  const std::uint64_t dropped = writer->dropped();
  EXPECT_GT(dropped, 0U);
  writer->flush(Milliseconds(1));  // it gives up

  std::string read;
  std::thread reader([&] {
    std::array<char, 4096> piece{};
    while (read.find("the last") == std::string::npos) {
      const ssize_t bytes = ::read(ends[0], piece.data(), piece.size());
      ASSERT_GT(bytes, 0);
      read.append(piece.data(), static_cast<std::size_t>(bytes));
    }
  });
  std::uint64_t before = 0;
  do {  // until there is room for it
    writer->flush(Milliseconds(10));
    before = writer->dropped();
    writer->write("the last\n");
  } while (writer->dropped() != before);
  reader.join();
  EXPECT_TRUE(read.starts_with("line 0..."));
  EXPECT_GE(static_cast<std::size_t>(std::count(read.begin(), read.end(), '\n')), lines - dropped);
}

// While it lives no thread finds room for its stack.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47U);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

// It threw, took no signals from then on, and everything that was said later waited for ever.
TEST(LogWriter, WithoutAThreadNothingWasWritten) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  static Writer* const writer = new Writer(ends[1]);
  const auto written = [&] {
    std::array<char, 4096> piece{};
    const ssize_t bytes = ::read(ends[0], piece.data(), piece.size());
    return std::string(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  };
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    const NoThreads none;
    EXPECT_THROW(std::thread([] {}), std::system_error);
    writer->write("said at once\n");
    EXPECT_EQ(written(), "said at once\n");
    // And nobody waits for a reader.
    const std::string line(1000, 'x');
    for (int count = 0; count < 1000 && writer->dropped() == 0; ++count) writer->write(line + "\n");
    EXPECT_EQ(writer->dropped(), 1U);
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
  writer->write("by a thread\n");
  std::string read;
  while (read.find("by a thread\n") == std::string::npos) read += written();
}

}  // namespace
}  // namespace ringside::log
