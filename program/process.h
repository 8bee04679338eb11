#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "http/admin_server.h"
#include "program/file_watch.h"
#include "program/invocation.h"
#include "program/service.h"
#include "program/signals.h"

namespace ringside::program {

// The life of one service as a process: its admin pages, reloads, and its end.
class Process {
 public:
  // `configuration` is what the service was started with. Service and clock must outlive it.
  Process(Invocation invocation, Configuration configuration, Service& service, const Clock& clock);
  ~Process();

  // Serves the admin pages from here on.
  [[nodiscard]] Result<void> start_admin();
  [[nodiscard]] Endpoint admin() const { return admin_.address(); }

  // Waits for signals and changed files until it is told to end; drains. Returns the exit code: 0,
  // or 1 where a second signal cut the drain short.
  [[nodiscard]] int run(const Signals& signals);

  // Loads the configuration again and publishes it, or keeps everything as it is and says why. On
  // the thread of run().
  [[nodiscard]] Result<void> reload();
  // Not ready, no new connections. From any thread.
  void drain();

 private:
  [[nodiscard]] Result<void> load_and_apply();
  [[nodiscard]] int end(const Signals& signals);
  [[nodiscard]] FileWatch watch() const;
  void add_pages();
  [[nodiscard]] http::AdminServer::Answer readiness() const;
  [[nodiscard]] http::AdminServer::Answer put_topology(std::string_view body);
  [[nodiscard]] http::AdminServer::Answer purge(std::string_view body);

  const Invocation invocation_;
  Service& service_;
  const Clock& clock_;
  std::atomic<bool> draining_ = false;

  mutable std::mutex mutex_;  // for the pages: what is below
  Configuration configuration_;
  std::uint64_t reloads_applied_ = 0;
  std::uint64_t reloads_refused_ = 0;
  std::string last_refusal_;

  http::AdminServer admin_;  // last: its handlers use all of the above
};

// `{"url": "http://host/path?query"}` or `{"all": true}`.
[[nodiscard]] Result<PurgeTarget> parse_purge_request(std::string_view body);

}  // namespace ringside::program
