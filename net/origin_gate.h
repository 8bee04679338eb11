#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/address.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/seldom.h"
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

// Of so many places, who has how many. A client (see subscriber_of) has three quarters of them at
// most, so that none can keep all others out; who is not told (IpAddress{}) has no such limit.
class Places {
 public:
  [[nodiscard]] bool has_room(const IpAddress& client, std::size_t most) const noexcept;
  [[nodiscard]] bool has_share(const IpAddress& client, std::size_t most) const noexcept;
  void take(const IpAddress& client);
  void leave(const IpAddress& client) noexcept;

 private:
  std::size_t in_use_ = 0;
  std::map<IpAddress, std::size_t> in_use_of_;
};

// Stands before one origin and lets in so many requests at once, of all cores together; more wait
// in a queue, first come, first served, but for clients who have their share already; beyond its
// length and its time they are refused. An origin that fails again and again is not asked for a
// while (see CircuitBreaker). So the cache in front of an origin is never what brings it down, nor
// keeps it down.
//
// Thread-safe; its mutex is held for a few instructions.
class OriginGate : public std::enable_shared_from_this<OriginGate> {
 public:
  struct Terms {
    std::size_t connections = limits::origin_connections;
    std::size_t queue = limits::origin_queue;
    Milliseconds queue_timeout = limits::origin_queue_timeout;
    std::size_t tunnels = limits::origin_tunnels;
  };
  class Slot;
  class Tunnel;

  OriginGate(UpstreamAddress address, const Terms& terms, std::shared_ptr<OriginCounts> counts);

  // Waits for a slot until `deadline` at most. `client`: whom the request is for. The slot is free
  // again when the last owner lets go of it. Errors, all of our own making: overloaded (the queue
  // is full, or its time over) and circuit_open; with Retry::yes where nothing was waited for and
  // another origin may be asked. On the core's thread.
  Task<Result<std::shared_ptr<Slot>>> enter(Core& core, SteadyPoint deadline,
                                            const IpAddress& client = {});
  // A place for a tunnel, which may stay open for as long as it likes and so has no slot. Fails
  // (overloaded) where there is none.
  [[nodiscard]] Result<std::shared_ptr<Tunnel>> open_tunnel(const IpAddress& client);

  // False: enter() would refuse at once.
  [[nodiscard]] bool would_admit(SteadyPoint now) const;
  [[nodiscard]] CircuitBreaker::State circuit(SteadyPoint now) const;
  // What the origin has failed with, while its circuit is not closed; else empty.
  [[nodiscard]] std::string failure(SteadyPoint now) const;
  // Who waits is let in where there are more; who is in stays where there are fewer.
  void set_connections(std::size_t connections);

 private:
  struct Waiting;
  class QueuePosition;
  using SlotPointer = std::shared_ptr<Slot>;
  using Bell = std::shared_ptr<Waiter::Bell>;

  std::optional<Result<SlotPointer>> let_in(SteadyPoint now, const IpAddress& client,
                                            Waiting* waiting);
  Result<SlotPointer> take_slot(SteadyPoint now, const IpAddress& client);
  void hand_on(std::list<Bell>& woken);
  void left_queue(const Waiting& waiting) noexcept;
  void leave(const IpAddress& client);
  void settle(const CircuitBreaker::Permit& permit, CircuitBreaker::Outcome outcome,
              SteadyPoint now, const std::string& why);
  void tell(bool was_closed, SteadyPoint now);
  [[nodiscard]] Error circuit_is_open(SteadyPoint now);
  [[nodiscard]] Error queue_is_full();
  [[nodiscard]] Error queue_took_too_long();

  const UpstreamAddress address_;
  const std::shared_ptr<OriginCounts> counts_;
  mutable std::mutex mutex_;  // of all below
  Terms terms_;
  Places slots_;
  Places tunnels_;
  Places queued_;
  std::list<Waiting*>
      queue_;  // the first that has not its share is served next; each is its coroutine's
  CircuitBreaker breaker_;
  std::string failure_;  // the last that the breaker was told of
  log::Seldom complaints_{limits::breaker_open_most};
  bool has_complained_ = false;
};

// One request's leave to ask the origin, held until its answer has been read or given up.
class OriginGate::Slot {
 public:
  Slot(std::shared_ptr<OriginGate> gate, const IpAddress& client,
       const CircuitBreaker::Permit& permit) noexcept
      : gate_(std::move(gate)), client_(client), permit_(permit) {}
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // How asking went, as soon as that is known; `why` it failed. At most once; without it nothing
  // was learnt.
  void settle(CircuitBreaker::Outcome outcome, SteadyPoint now, const std::string& why = {});

 private:
  const std::shared_ptr<OriginGate> gate_;
  const IpAddress client_;
  const CircuitBreaker::Permit permit_;
  bool settled_ = false;
};

// A tunnel's place, until its last owner lets go of it.
class OriginGate::Tunnel {
 public:
  Tunnel(std::shared_ptr<OriginGate> gate, const IpAddress& client) noexcept
      : gate_(std::move(gate)), client_(client) {}
  ~Tunnel();
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

 private:
  const std::shared_ptr<OriginGate> gate_;
  const IpAddress client_;
};

}  // namespace ringside::net
