#include "http/tunnel.h"

#include <array>

#include "http/spawn.h"

namespace ringside::http {
namespace {

// Both ways share the connections' deadlines: a byte in either direction keeps both alive.
class Tunnel {
 public:
  Tunnel(Connection& client, Connection& upstream, Milliseconds idle_timeout)
      : client_(client),
        upstream_(upstream),
        idle_timeout_(idle_timeout),
        down_is_over_(client.core().executor(), Timer::time_point::max()) {}

  Task<TunnelBytes> run() {
    client_.begin_tunnel();
    spawn(client_.core().context(), down());
    co_await carry(client_, upstream_, bytes_.up);
    // The other way refers to us, so it has to end first. It does: the deadline and the core's stop
    // break off its waits, as they did ours.
    while (!down_ended_) co_await down_is_over_.async_wait(use_task);
    co_return bytes_;
  }

 private:
  Task<void> down() {
    co_await carry(upstream_, client_, bytes_.down);
    down_ended_ = true;
    down_is_over_.cancel();
  }

  Task<void> carry(Connection& from, Connection& to, std::uint64_t& bytes) {
    while (true) {
      stay_alive();
      const auto piece = co_await from.read_raw();
      if (!piece) break;
      if (piece->empty()) {
        to.shutdown_send();
        co_return;
      }
      stay_alive();
      const std::array<asio::const_buffer, 1> out{asio::const_buffer(piece->data(), piece->size())};
      const auto written = co_await to.write(out);
      if (!written) break;
      bytes += piece->size();
    }
    from.close();
    to.close();
  }

  void stay_alive() noexcept {
    client_.set_deadline(idle_timeout_);
    upstream_.set_deadline(idle_timeout_);
  }

  Connection& client_;
  Connection& upstream_;
  const Milliseconds idle_timeout_;
  Timer down_is_over_;  // never expires; its cancellation is the news
  TunnelBytes bytes_;
  bool down_ended_ = false;
};

}  // namespace

Task<TunnelBytes> tunnel(Connection& client, Connection& upstream, Milliseconds idle_timeout) {
  Tunnel one(client, upstream, idle_timeout);
  co_return co_await one.run();
}

}  // namespace ringside::http
