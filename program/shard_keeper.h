#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "program/configuration.h"
#include "program/service.h"

namespace ringside::program {

// Keeps the shards of a process as their writer, or a ConfigMap, has them (--state-writer), and
// asks for a cut where one of its own is too full (--split-above), or for keys to be placed
// (--place-keys). A thread of its own; the first
// look is at the start, the next ones every limits::state_poll or state_config_map_poll. While the
// writer is away everything stays as it was heard last, and nothing is cut.
class ShardKeeper {
 public:
  // The service must outlive it. `configuration` names the writer and the file of the admin token,
  // which is the same in all of a tier. `shared`: where all of them write; null elsewhere.
  ShardKeeper(const Configuration& configuration, Service& service,
              std::unique_ptr<SharedState> shared = nullptr);
  ~ShardKeeper();
  ShardKeeper(const ShardKeeper&) = delete;
  ShardKeeper& operator=(const ShardKeeper&) = delete;

  // Looks at once: a peer knows another topology. From any thread; does not wait.
  void look_again();
  // A line for /readyz.
  [[nodiscard]] std::string line() const;

 private:
  // Whether anybody else may write what is followed.
  [[nodiscard]] bool follows() const noexcept { return writer_ || shared_; }
  void run();
  void look();
  [[nodiscard]] Result<void> follow();
  [[nodiscard]] Result<void> ask_for_cut();
  void note(const Result<void>& heard);

  const std::string source_;              // whose shards they are, for people
  const std::optional<Endpoint> writer_;  // nullopt: this process is, or all are
  const std::unique_ptr<SharedState> shared_;
  const std::string token_file_;
  Service& service_;
  const Milliseconds pause_;    // between two looks
  unsigned looks_to_pass_ = 0;  // before a cut is asked for again
  unsigned failures_ = 0;       // of those that were asked for, in a row
  mutable std::mutex mutex_;    // what is below
  std::condition_variable told_;
  bool is_told_ = false;
  bool is_ending_ = false;
  bool has_heard_ = false;  // the writer, ever
  std::string trouble_;     // why the writer was not heard at the last look
  std::thread thread_;      // last: it uses all of the above
};

}  // namespace ringside::program
