#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "hop/access_record.h"
#include "hop/log_readers.h"

namespace ringside::hop {

// A line for each request, in a file and for those who follow them live (`ringside log`); either
// may be missing. Cores hand their records to a queue each; one thread formats and writes. Whatever
// happens to the file (a full disk, a pipe that nobody reads), no core ever waits: what does not
// fit into its queue is dropped and counted.
class AccessLog {
 public:
  // One core's way in: single producer, single consumer, limits::access_log_records deep.
  class Queue {
   public:
    explicit Queue(AccessLog& log) : log_(log) {}
    // Whether anybody is told of the request that begins now; else it needs no record. On the
    // core's thread.
    [[nodiscard]] bool is_wanted() {
      return log_.is_written() || (log_.readers_.any() && !is_missed_by_all());
    }
    // Takes the record and gives back an old one, whose strings are to be used again. On the core's
    // thread; never waits for a file or a reader.
    void write(AccessRecord& record) noexcept;

   private:
    friend class AccessLog;
    // Appends lines until `out` is as long as is written at once; false where nothing was left.
    bool take(std::string& out);
    void look_at_readers();
    [[nodiscard]] bool is_missed_by_all();
    void choose_followers(AccessRecord& record, bool has_room);
    void tell(Followers& followers, std::string_view line);
    // Tells the followers of what waits for the file, which goes on waiting.
    void tell_ahead();

    static constexpr std::size_t line_size_bytes = 64;  // of the processor's cache
    AccessLog& log_;
    std::vector<AccessRecord> slots_;  // made with the first record
    std::shared_ptr<const LogReaders::List> readers_ = log_.readers_.list();  // as the core knows
    std::uint64_t readers_seen_ = 0;                                // the generation of these
    alignas(line_size_bytes) std::atomic<std::size_t> written_{0};  // by the core
    std::atomic<std::uint64_t> dropped_{0};
    alignas(line_size_bytes) std::atomic<std::size_t> taken_{0};  // by the writer
  };

  // Appends to a file, which is made where there is none; `-` is stdout. An Error names the path
  // and the remedy. The clock outlives it.
  [[nodiscard]] static Result<std::unique_ptr<AccessLog>> open(const std::string& path,
                                                               std::size_t cores,
                                                               const Clock& clock);
  // For followers alone.
  [[nodiscard]] static std::unique_ptr<AccessLog> unwritten(std::size_t cores, const Clock& clock);
  // Whether open() would fail, as far as that can be told without making the file.
  [[nodiscard]] static Result<void> check(const std::string& path);
  ~AccessLog();  // stop()
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  [[nodiscard]] Queue& queue(std::size_t core) noexcept { return *queues_[core]; }

  // Whether there is a file.
  [[nodiscard]] bool is_written() const noexcept { return !path_.empty(); }
  // See LogReaders::take. From any thread.
  [[nodiscard]] Result<LogReader::Taken> follow(const std::string& reader, const LogFilter& filter);

  // Opens the path again, so that a log that was renamed is let go. Where that fails the old file
  // stays in use, and the failure is logged and counted. From any thread.
  void reopen() noexcept;
  // Writes what is left, as far as the file takes it without making us wait. Idempotent; after the
  // cores have ended.
  void stop() noexcept;

  struct Figures {
    std::uint64_t written = 0;   // lines
    std::uint64_t dropped = 0;   // records that no line was written of, or not the whole of it
    std::uint64_t failures = 0;  // writes and openings that failed
  };
  [[nodiscard]] Figures figures() const noexcept;  // thread-safe

 private:
  AccessLog(std::string path, int file, std::size_t cores, const Clock& clock);
  void wake() noexcept { changed_.notify_one(); }  // a wake-up that is missed costs one flush
  void wake_for_sure() noexcept;

  // The writer's.
  void run();
  void fill();
  void tell_ahead();
  bool flush();  // false: the file took nothing for as long as limits::access_log_flush
  [[nodiscard]] std::size_t piece_size_bytes() const noexcept;
  void fail(const char* what) noexcept;
  void drop_rest() noexcept;
  void open_again();
  // The batch begins with the end of a line that was dropped.
  [[nodiscard]] bool mends() const noexcept { return mid_line_ && begun_ == 0; }

  const std::string path_;  // empty: no file
  const Clock& clock_;
  LogReaders readers_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::atomic<bool> reopen_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::mutex mutex_;  // of the wait alone
  std::condition_variable changed_;

  int file_;  // -1: none; from here on the writer's
  bool is_regular_ = false;
  bool failing_ = false;   // the last write failed
  bool mid_line_ = false;  // the file ends within a line
  std::string batch_;      // formatted
  std::size_t begun_ = 0;  // bytes of it that are written

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace ringside::hop
