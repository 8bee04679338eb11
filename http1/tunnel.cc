#include "http1/tunnel.h"

#include <array>

#include "base/join.h"

namespace ringside::http {
namespace {

// Both ways share the connections' deadlines: a byte in either direction keeps both alive.
class Tunnel {
 public:
  Tunnel(Connection& client, ByteStream& upstream, Milliseconds idle_timeout)
      : client_(client), upstream_(upstream), idle_timeout_(idle_timeout) {}

  Task<TunnelBytes> run() {
    client_.lift_rate();
    down_.begin();
    client_.core().spawn(down());
    co_await carry(client_, upstream_, bytes_.up);
    // The other way refers to us, so it has to end first. It does: the deadline and the core's stop
    // break off its waits, as they did ours.
    co_await down_;
    co_return bytes_;
  }

 private:
  Task<void> down() {
    co_await carry(upstream_, client_, bytes_.down);
    down_.end();
  }

  Task<void> carry(ByteStream& from, ByteStream& to, std::uint64_t& bytes) {
    while (true) {
      stay_alive();
      const auto piece = co_await from.read_raw();
      if (!piece) break;
      if (piece->empty()) {
        to.shutdown_send();
        co_return;
      }
      stay_alive();
      const std::array<std::string_view, 1> out{*piece};
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
  ByteStream& upstream_;
  const Milliseconds idle_timeout_;
  TunnelBytes bytes_;
  Join down_;
};

}  // namespace

Task<TunnelBytes> tunnel(Connection& client, ByteStream& upstream, Milliseconds idle_timeout) {
  Tunnel one(client, upstream, idle_timeout);
  co_return co_await one.run();
}

}  // namespace ringside::http
