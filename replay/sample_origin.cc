#include "replay/sample_origin.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <iterator>
#include <string>

#include "base/limits.h"
#include "http/date.h"
#include "http/target.h"
#include "http1/connection.h"
#include "http1/error_response.h"
#include "http1/server.h"
#include "net/core.h"
#include "replay/sample_page.h"

namespace ringside::replay {
namespace {

using http::Connection;

struct Site {
  const Clock& clock;
  const TimePoint modified;
  std::atomic<std::uint64_t> requests{0};
};

std::string_view view(const std::array<char, 29>& date) { return {date.data(), date.size()}; }

// One connection's requests, one after the other.
class Visit {
 public:
  Visit(Site& site, Connection& connection) : site_(site), connection_(connection) {}

  Task<void> run() {
    while (co_await read_head()) {
      site_.requests.fetch_add(1, std::memory_order_relaxed);
      const bool keep_alive = request_.keep_alive && !connection_.core().draining();
      // Views of the head end where the body begins to be read.
      const bool is_read = request_.method == "GET" || request_.method == "HEAD";
      if (is_read) compose(keep_alive);
      const auto received = co_await read_body();
      if (!received) co_return;
      if (!is_read) compose_receipt(*received, keep_alive);
      if (!co_await write()) co_return;
      if (!keep_alive) co_return;
    }
  }

 private:
  Task<bool> read_head() {
    connection_.set_deadline(limits::client_idle_timeout);
    const auto begun = co_await connection_.wait_for_message();
    if (!begun || !*begun) co_return false;
    connection_.set_deadline(limits::client_head_timeout);
    const auto read = co_await connection_.read_request(http::HeadLimits::defaults(), request_);
    if (read) co_return true;
    if (read.error().kind == ErrorKind::disconnected) co_return false;
    http::ErrorResponse how;
    how.proxy = "sample-origin";
    how.close = true;
    head_ = http::error_response(read.error(), how);
    body_.clear();
    if (co_await write()) {
      connection_.set_deadline(limits::client_io_timeout);
      co_await connection_.linger(limits::head_size_bytes);
    }
    co_return false;
  }

  Task<Result<std::uint64_t>> read_body() {
    std::uint64_t bytes = 0;
    while (!connection_.body_done()) {
      connection_.set_deadline(limits::client_io_timeout);
      const auto piece = co_await connection_.read_body();
      if (!piece) co_return piece.error();
      bytes += piece->size();
    }
    co_return bytes;
  }

  void begin(int status, bool keep_alive) {
    head_ = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\nServer: ringside-sample\r\n", status,
                        http::reason_of(status), view(http::format_date(site_.clock.now())));
    if (!keep_alive) head_ += "Connection: close\r\n";
  }

  // The answer to a GET or HEAD.
  void compose(bool keep_alive) {
    body_.clear();
    http::Target target;
    if (!http::normalise_target(request_.target, target)) {
      begin(400, keep_alive);
      head_ += "Content-Length: 0\r\n\r\n";
      return;
    }
    const SamplePage page =
        sample_page(target.text(), request_.fields.first("X-Country").value_or("ZZ"));
    const auto asked = request_.fields.combined("If-None-Match");
    const bool unchanged = asked && names_entity_tag(*asked, page.etag);
    begin(unchanged ? 304 : 200, keep_alive);
    fmt::format_to(std::back_inserter(head_),
                   "Cache-Control: max-age=3600\r\nETag: {}\r\nLast-Modified: {}\r\n", page.etag,
                   view(http::format_date(site_.modified)));
    if (!unchanged) {
      fmt::format_to(std::back_inserter(head_),
                     "Content-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n",
                     page.html.size());
      if (request_.method != "HEAD") body_ = page.html;
    }
    head_ += "\r\n";
  }

  void compose_receipt(std::uint64_t received_bytes, bool keep_alive) {
    body_ = fmt::format("received {} bytes\n", received_bytes);
    begin(200, keep_alive);
    fmt::format_to(std::back_inserter(head_),
                   "Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n", body_.size());
  }

  Task<bool> write() {
    const std::array<std::string_view, 2> buffers{head_, body_};
    connection_.set_deadline(limits::client_io_timeout);
    const auto written = co_await connection_.write(buffers);
    co_return written.has_value();
  }

  Site& site_;
  Connection& connection_;
  http::RequestHead request_;
  std::string head_;
  std::string body_;
};

Task<void> visit(Site& site, Connection& connection) {
  Visit one(site, connection);
  co_await one.run();
}

}  // namespace

struct SampleOrigin::Impl {
  explicit Impl(const Clock& clock)
      : site{clock, clock.now()},
        cores("origin", 1, clock),
        server(cores, [this](Connection& connection) { return visit(site, connection); }) {}

  Site site;
  net::CoreGroup cores;
  http::Server server;
};

SampleOrigin::SampleOrigin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SampleOrigin::~SampleOrigin() { stop(); }

Result<std::unique_ptr<SampleOrigin>> SampleOrigin::start(const Endpoint& listen,
                                                          const Clock& clock) {
  auto impl = std::make_unique<Impl>(clock);
  if (auto listening = impl->server.listen(listen); !listening) return listening.error();
  impl->cores.start();
  return std::unique_ptr<SampleOrigin>(new SampleOrigin(std::move(impl)));
}

Endpoint SampleOrigin::address() const { return impl_->server.address(); }

std::uint64_t SampleOrigin::requests() const noexcept {
  return impl_->site.requests.load(std::memory_order_relaxed);
}

void SampleOrigin::stop() { impl_->cores.stop(); }

}  // namespace ringside::replay
