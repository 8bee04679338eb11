#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "net/core.h"
#include "net/transport.h"
#include "tests/simulation/simulated_stack.h"

namespace ringside::simulation {

// A TCP connection: both of its ends, each with a buffer that is finite, and what they tell each
// other. End 0 is who connected.
class SimulatedConnection : public std::enable_shared_from_this<SimulatedConnection> {
 public:
  SimulatedConnection(SimulatedNetwork& network, std::uint64_t number, const SimulatedHost& client,
                      const SimulatedHost& server);

  // A process takes an end.
  [[nodiscard]] std::unique_ptr<net::Transport> open(std::size_t index, net::Core& core);

  net::Transport::Attempt read(std::size_t index, char* to, std::size_t bytes);
  net::Transport::Attempt write(std::size_t index, std::span<const std::string_view> buffers);
  void wait(std::size_t index, net::Transport::Ready ready,
            std::function<void(std::error_code)> done);
  void cancel(std::size_t index);
  void shutdown_send(std::size_t index);
  void close(std::size_t index);
  void reset_on_close(std::size_t index) noexcept { ends_[index].resets_on_close = true; }
  void limit_received(std::size_t index, std::size_t bytes) noexcept;
  [[nodiscard]] bool anything_arrived(std::size_t index) const noexcept;
  [[nodiscard]] std::size_t unconfirmed(std::size_t index) const noexcept {
    return ends_[index].unconfirmed_bytes;
  }
  [[nodiscard]] const IpAddress& remote(std::size_t index) const noexcept {
    return ends_[1 - index].host.address();
  }

  // The handshake's last step: the server's end can be accepted once this has arrived there.
  void tell_established(const net::SocketAddress& address);
  // The process at `host` is gone, where it is one of the two.
  void lose(const SimulatedHost& host);
  [[nodiscard]] bool is_between(const SimulatedHost& one,
                                const SimulatedHost& other) const noexcept;
  // Both ends are told by a reset that none of them sent.
  void reset_both();

 private:
  // What goes over the wire. confirm: that so much was read.
  struct Segment {
    enum class Kind { data, end, reset, confirm } kind;
    std::string data = {};
    std::size_t bytes = 0;
  };
  struct End {
    explicit End(const SimulatedHost& the_host) : host(the_host) {}
    const SimulatedHost& host;
    net::Core* core = nullptr;  // whose process has it open
    std::string arrived;        // and was not read
    Instant last_arrival{0};    // of what is on its way here: nothing overtakes
    std::size_t unconfirmed_bytes = 0;
    std::size_t unconfirmed_most_bytes = 0;
    std::array<std::function<void(std::error_code)>, 3> waits;
    bool end_arrived = false;
    bool end_sent = false;
    bool broken = false;  // by a reset, or its process is gone
    bool closed = false;
    bool resets_on_close = false;
  };

  // Happens at the end, where it arrives there.
  void at_end(std::size_t index, std::function<void()> event);
  // The other end sends it.
  void send_to(std::size_t index, Segment segment);
  // It is on its way, whoever sent it.
  void bring_to(std::size_t index, Segment segment);
  void arrive(std::size_t index, const Segment& segment);
  [[nodiscard]] bool is_ready(const End& end, net::Transport::Ready ready) const noexcept;
  void wake(std::size_t index);

  SimulatedNetwork& network_;
  const std::uint64_t number_;
  std::array<End, 2> ends_;
};

}  // namespace ringside::simulation
