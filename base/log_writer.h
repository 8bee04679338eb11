#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace ringside::log {

// Lines on their way to a descriptor, written by a thread of their own: whoever reads there, or
// does not, nobody who has something to say waits. What finds limits::log_queue_bytes waiting is
// dropped and counted. Lasts as long as the process, since its thread may be stuck for good.
class Writer {
 public:
  explicit Writer(int file) : file_(file) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Whole lines, each with its end. Thread-safe.
  void write(std::string_view lines);
  // Until all is written or given up, but no longer than that.
  void flush(Milliseconds at_most);
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }  // lines

 private:
  // False: there is no thread to be had now.
  [[nodiscard]] bool begin();
  [[noreturn]] void run();
  // Each piece once the descriptor takes it, within so long (for poll; -1: for as long as it
  // takes).
  void put(std::string_view lines, int patience_ms);

  const int file_;
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool begun_ = false;
  std::string waiting_;
  std::size_t in_hand_bytes_ = 0;  // taken from there and not written yet
};

}  // namespace ringside::log
