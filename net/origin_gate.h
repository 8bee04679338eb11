#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/limits.h"
#include "base/task.h"
#include "base/upstream_address.h"
#include "net/circuit_breaker.h"
#include "net/core.h"
#include "net/waiter.h"

namespace ringside::net {

// What all gates of a component have counted. A gate may be forgotten; what it counted is not.
struct OriginCounts {
  std::atomic<std::uint64_t> queued{0};  // waiting now
  std::atomic<std::uint64_t> in_use{0};  // slots held now
  std::atomic<std::uint64_t> refused_queue_full{0};
  std::atomic<std::uint64_t> refused_queue_timeout{0};
  std::atomic<std::uint64_t> refused_circuit_open{0};
  std::atomic<std::uint64_t> circuits_opened{0};
};

// Stands before one origin and lets in so many requests at once, of all cores together; more wait
// in a queue, first come, first served; beyond its length and its time they are refused. An origin
// that fails again and again is not asked for a while (see CircuitBreaker). So the cache in front
// of an origin is never what brings it down, nor keeps it down.
//
// Thread-safe; its mutex is held for a few instructions.
class OriginGate : public std::enable_shared_from_this<OriginGate> {
 public:
  struct Terms {
    std::size_t connections = limits::origin_connections;
    std::size_t queue = limits::origin_queue;
    Milliseconds queue_timeout = limits::origin_queue_timeout;
  };
  class Slot;

  OriginGate(UpstreamAddress address, const Terms& terms, std::shared_ptr<OriginCounts> counts);

  // Waits for a slot until `deadline` at most. The slot is free again when the last owner lets go
  // of it. Errors, all of our own making: overloaded (the queue is full, or its time over) and
  // circuit_open; with Retry::yes where nothing was waited for and another origin may be asked.
  // On the core's thread.
  Task<Result<std::shared_ptr<Slot>>> enter(Core& core, SteadyPoint deadline);

  // False: enter() would refuse at once.
  [[nodiscard]] bool would_admit(SteadyPoint now) const;
  [[nodiscard]] CircuitBreaker::State circuit(SteadyPoint now) const;
  // Who waits is let in where there are more; who is in stays where there are fewer.
  void set_connections(std::size_t connections);

 private:
  struct Waiting;
  class QueuePosition;
  using SlotPointer = std::shared_ptr<Slot>;
  using Bell = std::shared_ptr<Waiter::Bell>;

  std::optional<Result<SlotPointer>> let_in(SteadyPoint now, Waiting* waiting);
  Result<SlotPointer> take_slot(SteadyPoint now);
  void hand_on(std::list<Bell>& woken);
  void leave();
  void settle(const CircuitBreaker::Permit& permit, CircuitBreaker::Outcome outcome,
              SteadyPoint now);
  [[nodiscard]] Error circuit_is_open(SteadyPoint now);
  [[nodiscard]] Error queue_is_full();
  [[nodiscard]] Error queue_took_too_long();

  const UpstreamAddress address_;
  const std::shared_ptr<OriginCounts> counts_;
  mutable std::mutex mutex_;  // of all below
  Terms terms_;
  std::size_t in_use_ = 0;
  std::list<Waiting*> queue_;  // the first is served next; each is its coroutine's
  CircuitBreaker breaker_;
};

// One request's leave to ask the origin, held until its answer has been read or given up.
class OriginGate::Slot {
 public:
  Slot(std::shared_ptr<OriginGate> gate, const CircuitBreaker::Permit& permit) noexcept
      : gate_(std::move(gate)), permit_(permit) {}
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // How asking went, as soon as that is known. At most once; without it nothing was learnt.
  void settle(CircuitBreaker::Outcome outcome, SteadyPoint now);

 private:
  const std::shared_ptr<OriginGate> gate_;
  const CircuitBreaker::Permit permit_;
  bool settled_ = false;
};

}  // namespace ringside::net
