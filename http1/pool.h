#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "base/upstream_address.h"
#include "hop/upstream.h"
#include "http1/connection.h"
#include "net/core.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "net/waiter.h"

namespace ringside::http {

// The upstream connections of one core: kept open between requests, found by address, and no more
// of them in use at once than limits::upstream_connections_per_address; who finds none waits in
// order of arrival. Names are resolved when a connection is made and remembered for
// limits::named_connection_age.
class Pool final : public hop::Upstreams {
  struct Upstream;

 public:
  // Of each address.
  struct Terms {
    std::size_t connections = limits::upstream_connections_per_address;
    std::size_t waiters = limits::upstream_waiters_per_address;
    Milliseconds wait_timeout = limits::upstream_wait_timeout;
    std::string name_servers;  // `address:port,…`; empty: those of /etc/resolv.conf
  };

  // `other_side`: peer for replicas, origin for origins.
  Pool(net::Core& core, ErrorSource other_side);
  Pool(net::Core& core, ErrorSource other_side, const Terms& terms);
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] ErrorSource other_side() const noexcept { return other_side_; }

  // How certificates of upstreams under TLS are judged, for connections made from now on.
  void set_tls(std::shared_ptr<const net::TlsContext> context) override {
    tls_ = std::move(context);
  }

  void introduce_as(std::shared_ptr<const hop::PeerIdentity> self) override;

  [[nodiscard]] std::unique_ptr<hop::Exchange> exchange() override;

  // One of the connections that may be in use at once; its end lets the next one in. Must not
  // outlive the pool.
  class Slot {
   public:
    enum class Handed { no, yes };  // by one that left, and so counted already
    Slot() = default;
    Slot(Upstream& upstream, Handed handed) noexcept;
    Slot(Slot&& other) noexcept : upstream_(std::exchange(other.upstream_, nullptr)) {}
    Slot& operator=(Slot&& other) noexcept;
    ~Slot() { leave(); }

   private:
    void leave() noexcept;
    Upstream* upstream_ = nullptr;
  };
  struct Lease {
    Slot slot;  // outlives the connection
    std::unique_ptr<Connection> connection;
    bool reused = false;  // it may have been closed by the other side meanwhile
    SteadyPoint pooled_until = SteadyPoint::max();  // then it is closed rather than given back
    // Who has proved to be at its other end; null: nobody had to.
    std::shared_ptr<const hop::ProvenPeer> proven = nullptr;
  };

  // Beside a wait for a new connection: until when the other side may take its time for the proof,
  // and a way to end that wait. Outlives it.
  class Opening {
   public:
    // Once, before the wait.
    void expect_proof_by(SteadyPoint at) noexcept { proof_by_ = at; }
    // A proof that is waited for, now or later, has timed out.
    void give_up() noexcept;

   private:
    friend class Pool;
    SteadyPoint proof_by_{};
    Connection* connection_ = nullptr;  // on which it is waited for
    bool is_given_up_ = false;
  };

  // An idle connection, checked where `must_be_alive` (a request that can't be repeated), or a
  // nullopt; without suspending. `peer`: see UpstreamRequest.
  [[nodiscard]] std::optional<Lease> take_idle(const UpstreamAddress& address, bool must_be_alive,
                                               std::string_view peer = {});
  // Opens a new connection: waits for a slot, resolves, connects to each address in turn until
  // `deadline`, shakes hands where the upstream is under TLS, and proves membership. Without an
  // `opening` the proof is due at the deadline, too.
  Task<Result<Lease>> connect(const UpstreamAddress& address, SteadyPoint deadline,
                              std::string_view peer = {}, Opening* opening = nullptr);
  // Back into the pool. Requires that the answer was read to its end and allows reuse.
  void give_back(const UpstreamAddress& address, Lease lease);
  // Closes idle connections that are too old. Called now and then by the core's owner.
  bool close_idle() override;

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    SteadyPoint since;
    SteadyPoint pooled_until;
    std::shared_ptr<const hop::ProvenPeer> proven;
  };
  // What is known of one address.
  struct Upstream {
    std::deque<Idle> idle;
    std::size_t in_use = 0;
    std::list<net::Waiter*> waiting;
  };
  Task<Result<Slot>> enter(Upstream& upstream, const Endpoint& endpoint, SteadyPoint deadline);
  // The youngest idle connection.
  [[nodiscard]] static Lease take_youngest(Upstream& upstream, Slot slot);
  // What a connection that is open comes to once both ends have said who they are.
  struct Opened {
    std::unique_ptr<Connection> connection;
    std::shared_ptr<const hop::ProvenPeer> proven;
  };
  Task<Result<Opened>> open(const UpstreamAddress& address, const net::SocketAddress& where,
                            SteadyPoint deadline, std::string_view peer, Opening* opening);
  Task<Result<Opened>> open_any(const UpstreamAddress& address, SteadyPoint deadline,
                                std::string_view peer, Opening* opening);
  Task<Result<hop::ProvenPeer>> prove(Connection& connection, std::string_view peer,
                                      Opening* opening);
  [[nodiscard]] bool is_still_proven(const hop::ProvenPeer* proven) const noexcept;

  net::Core& core_;
  const ErrorSource other_side_;
  const Terms terms_;
  std::shared_ptr<const net::TlsContext> tls_;
  std::shared_ptr<const hop::PeerIdentity> self_;  // null: nobody proves anything
  std::map<UpstreamAddress, Upstream> upstreams_;
  net::Resolver resolver_;
};

}  // namespace ringside::http
