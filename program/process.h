#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "hop/access_log.h"
#include "http1/admin_server.h"
#include "k8s/discovery.h"
#include "metrics/exposition.h"
#include "program/file_watch.h"
#include "program/invocation.h"
#include "program/service.h"
#include "program/shard_keeper.h"
#include "program/signals.h"

namespace ringside::program {

// What stands beside a service.
struct ProcessParts {
  hop::AccessLog* access_log = nullptr;       // null: none. Outlives the process
  std::unique_ptr<k8s::Discovery> discovery;  // which it follows; null: members are listed
  std::unique_ptr<ShardKeeper> keeper;        // null: no writer of the shards is named
  FileWatch files;  // of which a change is a reload; see load() and watch_named()
};

// The life of one service as a process: its admin pages, reloads, and its end.
class Process {
 public:
  // `configuration` is what the service was started with. Service and clock must outlive it.
  Process(Invocation invocation, Configuration configuration, Service& service, const Clock& clock,
          ProcessParts parts = {});
  ~Process();

  // Serves the admin pages from here on, and probes where they have an address of their own.
  [[nodiscard]] Result<void> start_admin();
  [[nodiscard]] Endpoint admin() const { return admin_.address(); }
  [[nodiscard]] std::optional<Endpoint> probe() const;

  // Waits for signals and changed files until it is told to end; drains. Returns the exit code, 0.
  // A second signal ends the process on the spot, with 1 because answers may have been cut.
  [[nodiscard]] int run(const Signals& signals);

  // Ends all of it at once, without a drain.
  void stop();

  // Loads the configuration again and publishes it, or keeps everything as it is and says why. On
  // the thread of run().
  [[nodiscard]] Result<void> reload();
  // Not ready from now on, and other processes take what this one holds; after `drain_delay`, and
  // when they have it or half of `drain_deadline` is over, no new connections, and answers say
  // `Connection: close`. Until then all is as before, so that those who watch /readyz have sent
  // their clients elsewhere before anybody is turned away. Returns at once; from any thread.
  void drain();
  // How far a drain is, for people.
  [[nodiscard]] std::string drain_text() const;

 private:
  [[nodiscard]] Result<void> load_and_apply();
  [[nodiscard]] int end(const Signals& signals);
  void close_doors();
  void wait_to_close(SteadyPoint begun);
  void end_delay();
  [[nodiscard]] bool is_drained() const;
  [[nodiscard]] metrics::OperationFigures figures() const;
  void add_pages();
  void add_probes(http::AdminServer& server);
  [[nodiscard]] http::AdminServer::Answer readiness() const;
  [[nodiscard]] http::AdminServer::Answer put_topology(std::string_view body);
  [[nodiscard]] http::AdminServer::Answer split(std::string_view body);
  [[nodiscard]] http::AdminServer::Answer purge(std::string_view body);

  const Invocation invocation_;
  Service& service_;
  const Clock& clock_;
  hop::AccessLog* const access_log_;
  std::unique_ptr<k8s::Discovery> discovery_;  // ends before the service that follows it
  std::unique_ptr<ShardKeeper> keeper_;        // likewise
  FileWatch files_;                            // of the thread of run()
  std::atomic<bool> draining_ = false;

  mutable std::mutex mutex_;  // for the pages: what is below
  Configuration configuration_;
  std::uint64_t reloads_applied_ = 0;
  std::uint64_t reloads_refused_ = 0;
  std::string last_refusal_;

  // Of `mutex_` too:
  std::condition_variable ending_told_;
  bool ending_ = false;                    // nobody waits for the doors any more
  bool are_doors_closed_ = false;          // there are no new connections
  std::size_t buckets_to_give_ = 0;        // when the drain began
  std::optional<SteadyPoint> drain_ends_;  // when answers in hand are cut
  std::thread doors_;                      // waits until they are closed

  // Last: their handlers use all of the above.
  http::AdminServer admin_;
  http::AdminServer probes_;
};

// `{"url": "http://host/path?query"}`, `{"prefix": "http://host/path"}` or `{"all": true}`.
[[nodiscard]] Result<http::PurgeTarget> parse_purge_request(std::string_view body);

}  // namespace ringside::program
