#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/limits.h"
#include "base/time.h"
#include "hop/access_record.h"

namespace ringside::hop {

// Which requests a reader is told of: those of which all of this is true.
struct LogFilter {
  std::string country{};  // this, `replica` and `result`: empty, any
  std::string replica{};
  std::string result{};   // metrics::name of an outcome
  int status_first = 0;   // of the answer; 0: none was sent
  int status_last = 999;  // inclusive
  std::chrono::microseconds slower_than{-1};

  [[nodiscard]] bool matches(const AccessRecord& record) const noexcept;
  bool operator==(const LogFilter&) const = default;
};

// One who follows the requests of a process while they are answered. Its lines wait for it, up to
// limits::log_reader_lines and limits::log_reader_size_bytes; what is beyond is dropped and
// counted, so that a slow reader costs what a fast one does.
class LogReader {
 public:
  LogReader(std::string name, LogFilter filter)
      : name_(std::move(name)), filter_(std::move(filter)), wants_all_(filter_ == LogFilter{}) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Whether it is to be told of the record, and has room. Where it has none, that is counted. On
  // any core's thread; never waits.
  [[nodiscard]] bool claim(const AccessRecord& record, bool can_be_written) noexcept;
  // Whether it has no room for the next request, and would be told of it whatever becomes of it; so
  // that it needs no record to be counted.
  [[nodiscard]] bool would_miss() const noexcept {
    return wants_all_ && claimed_.load(std::memory_order_relaxed) >= limits::log_reader_lines;
  }
  void miss() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }
  // What was claimed: the record's line.
  void append(std::string_view line);

  struct Taken {
    std::string lines;
    std::uint64_t dropped = 0;  // since it was asked before
    bool begun = false;         // with this question
  };
  [[nodiscard]] Taken take();
  // Nobody asks any more: it keeps nothing.
  void close();

  SteadyPoint asked_at{};  // LogReaders guards it

 private:
  const std::string name_;
  const LogFilter filter_;
  const bool wants_all_;
  std::atomic<std::size_t> claimed_{0};  // lines that wait, or are on their way
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex mutex_;
  std::string lines_;
  std::size_t line_count_ = 0;
  bool is_closed_ = false;
};

// All of them: limits::log_readers at most. A reader that has not asked for
// limits::log_reader_patience is forgotten; one that misses a few questions makes room for a new
// one. Thread-safe.
class LogReaders {
 public:
  using List = std::vector<std::shared_ptr<LogReader>>;

  // What a reader's lines are since it asked before. A name that is not known yet is one more
  // reader, with that filter; who is there keeps the filter it came with. An Error where there are
  // as many as there may be.
  [[nodiscard]] Result<LogReader::Taken> take(const std::string& name, const LogFilter& filter,
                                              SteadyPoint now);
  void forget_silent(SteadyPoint now);

  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  // Changes with the list.
  [[nodiscard]] std::uint64_t generation() const noexcept {
    return generation_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::shared_ptr<const List> list() const;

 private:
  [[nodiscard]] static bool make_room(List& list, SteadyPoint now);
  void publish(List list);
  [[nodiscard]] List without_silent(SteadyPoint now) const;

  mutable std::mutex mutex_;
  std::shared_ptr<const List> list_ = std::make_shared<const List>();
  std::atomic<bool> any_ = false;
  std::atomic<std::uint64_t> generation_{0};
};

}  // namespace ringside::hop
