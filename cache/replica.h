#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"
#include "cache/settings.h"
#include "http1/access_log.h"
#include "metrics/sheet.h"

namespace ringside::net {
class CoreGroup;
class Stack;
}  // namespace ringside::net

namespace ringside::cache {

// One cache process's worth: a listener, a store, and the way to the origin. All methods are for
// the control thread, one at a time, where nothing else is said.
class Replica {
 public:
  struct Start {
    std::string name;  // stable; what the ring hashes
    Endpoint listen;
    std::size_t cores = 1;
    std::size_t memory_bytes = limits::store_memory_bytes;
    std::shared_ptr<const Settings> settings;
    http::AccessLog* access_log = nullptr;  // outlives the replica; null: none is written
    net::Stack* stack = nullptr;            // outlives the replica; null: the kernel's
    bool threads = true;                    // no: who starts it drives cores()
  };
  // Binds and serves. The clock must outlive the replica.
  [[nodiscard]] static Result<std::unique_ptr<Replica>> start(Start start, const Clock& clock);
  ~Replica();  // stop()

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] Endpoint address() const;
  void apply(std::shared_ptr<const Settings> settings);
  [[nodiscard]] std::shared_ptr<const Settings> settings() const;  // thread-safe
  // Thread-safe; brings the store's figures up to date.
  [[nodiscard]] const metrics::Sheet& sheet() const;

  // Removes every stored response for the URI (all shard keys, all variants), under the query that
  // the present rules make of it; a flight for it that is in the air stores nothing. Returns how
  // many. Thread-safe.
  std::size_t purge(std::string_view host, std::string_view path_and_query);
  // Removes everything.
  std::size_t purge_all();

  void drain();
  [[nodiscard]] std::size_t open_connections() const noexcept;  // thread-safe
  void stop();

  // To be driven where there are no threads.
  [[nodiscard]] net::CoreGroup& cores() noexcept;

 private:
  struct Impl;
  explicit Replica(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::cache
