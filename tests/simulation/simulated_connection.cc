#include "tests/simulation/simulated_connection.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ringside::simulation {
namespace {

using Attempt = net::Transport::Attempt;
using Ready = net::Transport::Ready;

// Small enough that bodies fill them.
constexpr std::size_t buffer_least_bytes = 4 * 1024;
constexpr std::size_t buffer_most_bytes = 64 * 1024;
constexpr std::array<std::string_view, 4> kind_names{"data", "end", "reset", "confirm"};

class LooseEnd final : public net::LooseConnection {
 public:
  LooseEnd(std::shared_ptr<SimulatedConnection> connection, std::size_t end)
      : connection_(std::move(connection)), end_(end) {}
  ~LooseEnd() override {
    if (connection_) connection_->close(end_);
  }
  [[nodiscard]] std::unique_ptr<net::Transport> arrive(net::Core& core) override {
    return std::exchange(connection_, nullptr)->open(end_, core);
  }

 private:
  std::shared_ptr<SimulatedConnection> connection_;
  const std::size_t end_;
};

// One end, in the hands of its process.
class SimulatedTransport final : public net::Transport {
 public:
  SimulatedTransport(std::shared_ptr<SimulatedConnection> connection, std::size_t end)
      : connection_(std::move(connection)), end_(end) {}
  ~SimulatedTransport() override {
    if (connection_) connection_->close(end_);
  }

  void begin_tls(std::shared_ptr<const net::TlsContext>, const std::string&) override {
    constexpr bool is_simulated = false;
    RINGSIDE_CHECK(is_simulated);
  }
  [[nodiscard]] const net::TlsSession* tls() const noexcept override { return nullptr; }
  Attempt handshake_now() override { return {}; }
  Attempt read_now(char* to, std::size_t bytes) override {
    return connection_->read(end_, to, bytes);
  }
  Attempt write_now(std::span<const std::string_view> buffers) override {
    return connection_->write(end_, buffers);
  }
  void wait(Ready ready, std::function<void(std::error_code)> done) override {
    connection_->wait(end_, ready, std::move(done));
  }
  [[nodiscard]] bool anything_arrived() noexcept override {
    return connection_->anything_arrived(end_);
  }
  [[nodiscard]] std::size_t unacknowledged_bytes() noexcept override {
    return connection_->unconfirmed(end_);
  }
  [[nodiscard]] IpAddress remote() const noexcept override { return connection_->remote(end_); }
  void limit_received(std::size_t bytes) noexcept override {
    connection_->limit_received(end_, bytes);
  }
  [[nodiscard]] std::unique_ptr<net::LooseConnection> release() noexcept override {
    return std::make_unique<LooseEnd>(std::move(connection_), end_);
  }
  void cancel() noexcept override {
    if (connection_) connection_->cancel(end_);
  }
  void shutdown_send() noexcept override { connection_->shutdown_send(end_); }
  void reset_on_close() noexcept override { connection_->reset_on_close(end_); }
  void close() noexcept override { connection_->close(end_); }

 private:
  std::shared_ptr<SimulatedConnection> connection_;  // null: it was released
  const std::size_t end_;
};

}  // namespace

SimulatedConnection::SimulatedConnection(SimulatedNetwork& network, std::uint64_t number,
                                         const SimulatedHost& client, const SimulatedHost& server)
    : network_(network), number_(number), ends_{End(client), End(server)} {
  for (End& end : ends_) {
    end.unconfirmed_most_bytes =
        buffer_least_bytes + network_.random().below(buffer_most_bytes - buffer_least_bytes);
  }
}

std::unique_ptr<net::Transport> SimulatedConnection::open(std::size_t index, net::Core& core) {
  ends_[index].core = &core;
  return std::make_unique<SimulatedTransport>(shared_from_this(), index);
}

Attempt SimulatedConnection::read(std::size_t index, char* to, std::size_t bytes) {
  End& end = ends_[index];
  // As in Linux: what had arrived before a reset can be read still.
  if (end.arrived.empty() || end.closed) {
    if (end.broken || end.closed) return {0, std::make_error_code(std::errc::connection_reset)};
    if (end.end_arrived) return {};
    return {0, {}, true};
  }
  const std::size_t taken = network_.piece_of(std::min(bytes, end.arrived.size()));
  end.arrived.copy(to, taken);
  end.arrived.erase(0, taken);
  send_to(1 - index, Segment{Segment::Kind::confirm, {}, taken});
  return {taken};
}

Attempt SimulatedConnection::write(std::size_t index, std::span<const std::string_view> buffers) {
  End& end = ends_[index];
  if (end.broken || end.closed || end.end_sent) {
    return {0, std::make_error_code(std::errc::broken_pipe)};
  }
  std::size_t offered = 0;
  for (const std::string_view buffer : buffers) offered += buffer.size();
  if (offered == 0) return {};
  if (!is_ready(end, Ready::to_write)) return {0, {}, true};
  const std::size_t taken =
      network_.piece_of(std::min(offered, end.unconfirmed_most_bytes - end.unconfirmed_bytes));
  std::string data;
  for (const std::string_view buffer : buffers) {
    data.append(buffer.substr(0, taken - data.size()));
  }
  end.unconfirmed_bytes += taken;
  send_to(1 - index, Segment{Segment::Kind::data, std::move(data), taken});
  return {taken};
}

bool SimulatedConnection::is_ready(const End& end, Ready ready) const noexcept {
  if (end.broken || end.closed) return true;
  // With a third of the buffer free, as in Linux: else all would soon go in single bytes.
  if (ready == Ready::to_write) return end.unconfirmed_bytes <= end.unconfirmed_most_bytes / 3 * 2;
  return end.end_arrived || !end.arrived.empty();
}

void SimulatedConnection::wait(std::size_t index, Ready ready,
                               std::function<void(std::error_code)> done) {
  auto& place = ends_[index].waits[static_cast<std::size_t>(ready)];
  RINGSIDE_CHECK(!place);
  place = std::move(done);
  wake(index);
}

void SimulatedConnection::wake(std::size_t index) {
  End& end = ends_[index];
  for (const Ready ready : {Ready::to_read, Ready::to_write, Ready::bytes_came}) {
    auto& place = end.waits[static_cast<std::size_t>(ready)];
    if (!place || !is_ready(end, ready)) continue;
    end.core->post([done = std::exchange(place, nullptr)] { done({}); });
  }
}

void SimulatedConnection::cancel(std::size_t index) {
  End& end = ends_[index];
  for (auto& place : end.waits) {
    if (!place) continue;
    end.core->post([done = std::exchange(place, nullptr)] {
      done(std::make_error_code(std::errc::operation_canceled));
    });
  }
}

void SimulatedConnection::shutdown_send(std::size_t index) {
  End& end = ends_[index];
  if (end.broken || end.closed || std::exchange(end.end_sent, true)) return;
  send_to(1 - index, Segment{Segment::Kind::end});
}

void SimulatedConnection::close(std::size_t index) {
  End& end = ends_[index];
  if (end.closed) return;
  cancel(index);
  // As the kernel does it: what nobody will read any more turns the end into a reset.
  if (end.broken) {
    // The other side knows.
  } else if (end.resets_on_close || !end.arrived.empty()) {
    send_to(1 - index, Segment{Segment::Kind::reset});
  } else {
    shutdown_send(index);
  }
  end.closed = true;
  end.core = nullptr;
}

void SimulatedConnection::limit_received(std::size_t index, std::size_t bytes) noexcept {
  std::size_t& most = ends_[1 - index].unconfirmed_most_bytes;
  most = std::min(most, bytes);
}

bool SimulatedConnection::anything_arrived(std::size_t index) const noexcept {
  return is_ready(ends_[index], Ready::bytes_came);
}

void SimulatedConnection::tell_established(const net::SocketAddress& address) {
  at_end(1, [self = shared_from_this(), address] {
    if (self->ends_[1].broken) return;  // with the process that it was for
    SimulatedListener* const listener = self->network_.listener_at(address);
    if (listener != nullptr) return listener->complete(self);
    self->reset_on_close(1);
    self->close(1);
  });
}

void SimulatedConnection::lose(const SimulatedHost& host) {
  for (const std::size_t index : {0U, 1U}) {
    End& end = ends_[index];
    if (&end.host != &host || end.closed || end.broken) continue;
    end.broken = true;
    end.arrived.clear();
    send_to(1 - index, Segment{Segment::Kind::reset});
  }
}

bool SimulatedConnection::is_between(const SimulatedHost& one,
                                     const SimulatedHost& other) const noexcept {
  const SimulatedHost* const client = &ends_[0].host;
  const SimulatedHost* const server = &ends_[1].host;
  return (client == &one && server == &other) || (client == &other && server == &one);
}

void SimulatedConnection::reset_both() {
  for (const std::size_t index : {0U, 1U}) bring_to(index, Segment{Segment::Kind::reset});
}

void SimulatedConnection::at_end(std::size_t index, std::function<void()> event) {
  End& end = ends_[index];
  end.last_arrival = std::max(end.last_arrival, network_.arrival());
  network_.at(end.last_arrival, end.host,
              [&network = network_, &from = ends_[1 - index].host, &to = end.host,
               event = std::move(event)] {
                if (network.passes(from, to)) return event();
                network.held_.push_back({&from, &to, event});
              });
}

void SimulatedConnection::send_to(std::size_t index, Segment segment) {
  if (network_.may_send(ends_[1 - index].host)) bring_to(index, std::move(segment));
}

void SimulatedConnection::bring_to(std::size_t index, Segment segment) {
  at_end(index, [self = shared_from_this(), index, segment = std::move(segment)] {
    self->arrive(index, segment);
  });
}

void SimulatedConnection::arrive(std::size_t index, const Segment& segment) {
  using Kind = Segment::Kind;
  End& end = ends_[index];
  network_.note("{} <- {} #{} {} {}", end.host.name(), ends_[1 - index].host.name(), number_,
                kind_names[static_cast<std::size_t>(segment.kind)], segment.bytes);
  if (end.closed || end.broken) {
    // A machine answers so whose process does not have the connection any more.
    if (segment.kind == Kind::data) send_to(1 - index, Segment{Kind::reset});
    return;
  }
  switch (segment.kind) {
    case Kind::data:
      end.arrived += segment.data;
      break;
    case Kind::end:
      end.end_arrived = true;
      break;
    case Kind::reset:
      end.broken = true;
      break;
    case Kind::confirm:
      end.unconfirmed_bytes -= segment.bytes;
      break;
  }
  wake(index);
}

}  // namespace ringside::simulation
