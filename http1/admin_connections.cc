#include "http1/admin_connections.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <cerrno>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/limits.h"
#include "base/log.h"

namespace ringside::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

SteadyPoint steady_now() noexcept { return SystemClock().steady_now(); }

// The descriptors of open connections, for those who may have to wake them from another thread. A
// connection is in the list for as long as its descriptor is open.
class OpenConnections {
 public:
  struct Entry {
    int descriptor = -1;
    bool idle = true;
  };
  using Place = std::list<Entry>::iterator;

  Place add(int descriptor) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= limits::admin_connections) close_longest_idle();
    return entries_.insert(entries_.end(), Entry{descriptor, true});
  }
  void remove(Place place) {
    const std::lock_guard lock(mutex_);
    entries_.erase(place);
  }
  void set_idle(Place place, bool idle) {
    const std::lock_guard lock(mutex_);
    place->idle = idle;
    entries_.splice(entries_.end(), entries_, place);
  }
  // Whoever waits for more of a request sees its end; answers can still be written.
  void end_reading() {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) ::shutdown(entry.descriptor, SHUT_RD);
  }

 private:
  void close_longest_idle() {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [](const Entry& entry) { return entry.idle; });
    if (found == entries_.end()) return;
    found->idle = false;
    ::shutdown(found->descriptor, SHUT_RDWR);
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // the one that changed longest ago first
};

// One client. Lives while a wait refers to it; its handlers run on its strand, one at a time.
class Client : public std::enable_shared_from_this<Client> {
 public:
  Client(tcp::socket socket, const AdminConnections::Exchange& exchange, OpenConnections& open)
      : exchange_(exchange),
        open_(open),
        socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        wire_(socket_.native_handle()),
        place_(open.add(socket_.native_handle())) {}
  ~Client() { open_.remove(place_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void await_request() {
    open_.set_idle(place_, true);
    start_timer(limits::admin_idle_timeout);
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
      self->timer_.cancel();
      if (!error) self->on_readable();
    });
  }

 private:
  void on_readable() {
    open_.set_idle(place_, false);
    do {
      wire_.begin_exchange();
      if (!exchange_(wire_)) return linger();
    } while (wire_.has_buffered());
    await_request();
  }

  // The end, in the way of RFC 9112 §9.6: while bytes of the client's are unread a plain close
  // would reset the connection, and could take the last answer with it.
  void linger() {
    error_code ignored;  // the client may have gone first
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    start_timer(limits::admin_linger_timeout);
    drop_rest();
  }

  void drop_rest() {
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
      std::array<char, 16 * limits::kKiB> dropped;
      if (!error &&
          ::recv(self->socket_.native_handle(), dropped.data(), dropped.size(), MSG_DONTWAIT) > 0) {
        return self->drop_rest();
      }
      self->timer_.cancel();
    });
  }

  void start_timer(Milliseconds timeout) {
    timer_.expires_after(timeout);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      // It may have been set anew after it ran out and before this was called.
      if (error || self->timer_.expiry() > std::chrono::steady_clock::now()) return;
      error_code ignored;  // where nothing waits any more, it ends anyway
      self->socket_.cancel(ignored);
    });
  }

  const AdminConnections::Exchange& exchange_;
  OpenConnections& open_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  AdminWire wire_;
  OpenConnections::Place place_;
};

Error cannot_listen(const Endpoint& listen, const error_code& error) {
  std::string reason = error.message();
  if (error == asio::error::address_in_use) {
    reason = "the port is in use; stop the program that has it or choose another port";
  } else if (error == asio::error::access_denied) {
    reason = "no permission; choose a port of 1024 or above";
  } else if (error.value() == EADDRNOTAVAIL) {
    reason = "that is no address of this machine; choose one that is, or 127.0.0.1";
  } else if (error == asio::error::host_not_found) {
    reason = "that name has no address; choose an address of this machine, such as 127.0.0.1";
  }
  return invalid_input(
      fmt::format("cannot listen on {} for administrators: {}", listen.text(), reason));
}

error_code open_at(tcp::acceptor& acceptor, const tcp::endpoint& at) {
  error_code error;
  acceptor.close(error);
  acceptor.open(at.protocol(), error);
  // Ports in TIME_WAIT can be taken again, those in use can't: so no SO_REUSEPORT.
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  // `[::]` takes IPv4 too, whatever the system's default.
  if (!error && at.protocol() == tcp::v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(at, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  return error;
}

}  // namespace

void AdminWire::begin_exchange() noexcept {
  deadline_ = steady_now() + limits::admin_io_timeout;
  allowance_bytes_ = limits::head_size_bytes;
  writing_ = false;
}

void AdminWire::begin_body() noexcept { allowance_bytes_ = 2 * limits::admin_body_size_bytes; }

ssize_t AdminWire::read(char* to, std::size_t size) noexcept {
  if (allowance_bytes_ == 0) return -1;
  if (!has_buffered()) {
    if (!wait(POLLIN)) return -1;
    const ssize_t got = ::recv(descriptor_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
  }
  const std::size_t taken = std::min({size, end_ - begin_, allowance_bytes_});
  std::copy_n(buffer_.data() + begin_, taken, to);
  begin_ += taken;
  allowance_bytes_ -= taken;
  return static_cast<ssize_t>(taken);
}

ssize_t AdminWire::write(const char* from, std::size_t size) noexcept {
  if (!std::exchange(writing_, true)) deadline_ = steady_now() + limits::admin_io_timeout;
  if (!wait(POLLOUT)) return -1;
  return ::send(descriptor_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool AdminWire::is_writable() const noexcept { return wait(POLLOUT); }

bool AdminWire::wait(short event) const noexcept {
  while (true) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline_ - steady_now()).count();
    if (left <= 0) return false;
    pollfd waited{descriptor_, event, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

struct AdminConnections::Impl {
  explicit Impl(Exchange made) : exchange(std::move(made)) {}

  Result<void> open(const Endpoint& listen);
  void accept();
  void on_accept(const error_code& error, tcp::socket socket);
  void run(std::size_t index);

  const Exchange exchange;
  OpenConnections connections;  // outlives the clients, which the io_context holds
  asio::io_context io;
  tcp::acceptor acceptor{io};
  asio::steady_timer accept_again{io};
  Milliseconds backoff = limits::accept_backoff_start;
  Endpoint address;
  std::vector<std::thread> threads;
};

Result<void> AdminConnections::Impl::open(const Endpoint& listen) {
  error_code error;
  tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(listen.host, std::to_string(listen.port), tcp::resolver::passive, error);
  if (error) return cannot_listen(listen, asio::error::host_not_found);
  for (const auto& candidate : found) {
    error = open_at(acceptor, candidate.endpoint());
    if (!error) break;
  }
  if (error) return cannot_listen(listen, error);
  address = Endpoint{listen.host, acceptor.local_endpoint().port()};
  return {};
}

void AdminConnections::Impl::accept() {
  acceptor.async_accept(asio::make_strand(io), [this](const error_code& error, auto socket) {
    on_accept(error, std::move(socket));
  });
}

void AdminConnections::Impl::on_accept(const error_code& error, tcp::socket socket) {
  if (error) {  // out of descriptors, most likely: trying again at once would only spin
    log::warning("the admin server cannot accept a connection: {}; trying again in {} ms",
                 error.message(), backoff.count());
    accept_again.expires_after(backoff);
    accept_again.async_wait([this](const error_code&) { accept(); });
    backoff = std::min(2 * backoff, limits::accept_backoff_most);
    return;
  }
  backoff = limits::accept_backoff_start;
  error_code ignored;  // an answer is then only slower
  socket.set_option(tcp::no_delay(true), ignored);
  std::make_shared<Client>(std::move(socket), exchange, connections)->await_request();
  accept();
}

void AdminConnections::Impl::run(std::size_t index) {
  ::pthread_setname_np(::pthread_self(), fmt::format("admin-{}", index).c_str());
  io.run();
}

AdminConnections::AdminConnections(Exchange exchange)
    : impl_(std::make_unique<Impl>(std::move(exchange))) {}

AdminConnections::~AdminConnections() { stop(); }

Result<void> AdminConnections::start(const Endpoint& listen) {
  RINGSIDE_CHECK(impl_->threads.empty() && !impl_->io.stopped());
  if (auto opened = impl_->open(listen); !opened) return opened;
  impl_->accept();
  for (std::size_t i = 0; i < limits::admin_threads; ++i) {
    impl_->threads.emplace_back([impl = impl_.get(), i] { impl->run(i); });
  }
  return {};
}

Endpoint AdminConnections::address() const { return impl_->address; }

// 1. No handler of the io_context begins any more: nothing is accepted, idle clients stay asleep.
// 2. An exchange that waits for the rest of its request sees the end of it. One that is being
//    answered goes on, and its thread ends after it: within limits::admin_io_timeout for a client
//    that does not read.
// 3. With the threads gone the listener is closed, and idle connections with the io_context.
void AdminConnections::stop() {
  impl_->io.stop();
  impl_->connections.end_reading();
  for (auto& thread : impl_->threads) {
    RINGSIDE_CHECK(thread.get_id() != std::this_thread::get_id());  // not from a handler
    thread.join();
  }
  impl_->threads.clear();
  error_code ignored;  // there is nobody left to tell
  impl_->acceptor.close(ignored);
}

}  // namespace ringside::http
