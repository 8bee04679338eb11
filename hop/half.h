#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "hop/wire.h"
#include "net/core.h"

namespace ringside::net {
class Stack;
}  // namespace ringside::net

namespace ringside::hop {

// How a half is put into its process.
struct Setup {
  Endpoint listen;
  std::size_t cores = 1;
  const Wire* wire = nullptr;       // outlives the half
  AccessLog* access_log = nullptr;  // outlives the half; null: none is written
  net::Stack* stack = nullptr;      // outlives the half; null: the kernel's
  bool threads = true;              // no: who starts it drives cores()
  // What it may hold at once.
  std::size_t connections_per_core = limits::connections_per_core;
  std::size_t buffered_bytes = limits::buffered_bytes;  // in all connections' buffers
};

// What the two halves share: cores, and a server on them. Methods are for the control thread, one
// at a time, where nothing else is said.
class Half {
 public:
  Half(const Half&) = delete;
  Half& operator=(const Half&) = delete;

  [[nodiscard]] Endpoint address() const { return server_->address(); }
  // No new connections; answers in hand are finished.
  void drain() { server_->drain(); }
  [[nodiscard]] std::size_t open_connections() const noexcept {  // thread-safe
    return server_->open_connections();
  }
  // Ends everything at once. Idempotent. What derives calls it before its own members end: the
  // cores wait until what uses them has unwound.
  void stop() { cores_.stop(); }
  // To be driven where there are no threads.
  [[nodiscard]] net::CoreGroup& cores() noexcept { return cores_; }
  [[nodiscard]] const net::CoreGroup& cores() const noexcept { return cores_; }

 protected:
  // `name` names the threads. The clock outlives the half.
  Half(const std::string& name, const Setup& setup, const Clock& clock);
  ~Half();
  // Binds and serves.
  [[nodiscard]] Result<void> serve(const Setup& setup, MakeHandler make_handler,
                                   decltype(ServerTerms::address_limit) address_limit = nullptr);

 private:
  net::CoreGroup cores_;
  std::unique_ptr<Server> server_;
};

// A value that is replaced whole, and read from any thread.
template <class Value>
class Published {
 public:
  explicit Published(std::shared_ptr<const Value> first) : value_(std::move(first)) {}
  [[nodiscard]] std::shared_ptr<const Value> get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<const Value> next) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Value> value_;
};

}  // namespace ringside::hop
