#include "replay/sample_origin.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <string>

#include "http/date.h"
#include "http/error_response.h"
#include "http/target.h"
#include "http1/wire.h"
#include "net/core.h"
#include "replay/sample_page.h"

namespace ringside::replay {
namespace {

struct Site {
  const Clock& clock;
  const TimePoint modified;
  std::atomic<std::uint64_t> requests{0};
};

std::string_view view(const std::array<char, 29>& date) { return {date.data(), date.size()}; }

// What one connection's requests are answered.
class Visit final : public hop::Handler {
 public:
  explicit Visit(Site& site) noexcept : site_(site) {}

  void begin(const IpAddress& from) override { from_ = from; }
  [[nodiscard]] std::uint32_t requests_per_connection() const override {
    return std::numeric_limits<std::uint32_t>::max();
  }
  Task<void> answer(http::RequestHead& request, http::Caller& caller,
                    http::Response& response) override {
    site_.requests.fetch_add(1, std::memory_order_relaxed);
    // Views of the head end where the content begins to be pulled.
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (is_read) answer_page(request, response);
    std::uint64_t received_bytes = 0;
    for (bool last = false; !last;) {
      const auto pulled = co_await caller.pull();
      if (!pulled) co_return refuse(pulled.error(), response);
      for (const std::string_view piece : pulled->pieces) received_bytes += piece.size();
      last = pulled->last;
    }
    if (is_read) co_return;
    begin(response, 200);
    add_content(response, "text/plain", fmt::format("received {} bytes\n", received_bytes));
  }
  void refuse(const Error& error, http::Response& response) override {
    http::make_error_response(response, error, {"sample-origin", {}, site_.clock.now()});
  }
  void sent(const hop::Sent& sent) override { static_cast<void>(sent); }
  [[nodiscard]] hop::AccessNotes access_notes() const override { return {from_, {}, {}, {}}; }

 private:
  void begin(http::Response& response, int status) const {
    response.begin(status, http::reason_of(status));
    response.fields.add("Date", view(http::format_date(site_.clock.now())));
    response.fields.add("Server", "ringside-sample");
  }

  static void add_content(http::Response& response, std::string_view type, std::string content) {
    response.fields.add("Content-Type", type);
    response.fields.add("Content-Length", fmt::to_string(content.size()));
    response.body = http::Body(std::move(content));
  }

  void answer_page(const http::RequestHead& request, http::Response& response) const {
    http::Target target;
    if (!http::normalise_target(request.target, target)) {
      begin(response, 400);
      response.fields.add("Content-Length", "0");
      return;
    }
    SamplePage page = sample_page(target.text(), request.fields.first("X-Country").value_or("ZZ"));
    const auto asked = request.fields.combined("If-None-Match");
    const bool unchanged = asked && names_entity_tag(*asked, page.etag);
    begin(response, unchanged ? 304 : 200);
    response.fields.add("Cache-Control", "max-age=3600");
    response.fields.add("ETag", page.etag);
    response.fields.add("Last-Modified", view(http::format_date(site_.modified)));
    if (!unchanged) add_content(response, "text/html; charset=utf-8", std::move(page.html));
  }

  Site& site_;
  IpAddress from_;
};

}  // namespace

struct SampleOrigin::Impl {
  explicit Impl(const Clock& clock)
      : site{clock, clock.now()},
        cores("origin", 1, clock),
        server(http::wire().serve(
            cores, {[this](net::Core&) { return std::make_unique<Visit>(site); }, nullptr})) {}

  Site site;
  net::CoreGroup cores;
  std::unique_ptr<hop::Server> server;
};

SampleOrigin::SampleOrigin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SampleOrigin::~SampleOrigin() { stop(); }

Result<std::unique_ptr<SampleOrigin>> SampleOrigin::start(const Endpoint& listen,
                                                          const Clock& clock) {
  auto impl = std::make_unique<Impl>(clock);
  if (auto listening = impl->server->listen(listen); !listening) return listening.error();
  impl->cores.start();
  return std::unique_ptr<SampleOrigin>(new SampleOrigin(std::move(impl)));
}

Endpoint SampleOrigin::address() const { return impl_->server->address(); }

std::uint64_t SampleOrigin::requests() const noexcept {
  return impl_->site.requests.load(std::memory_order_relaxed);
}

void SampleOrigin::stop() { impl_->cores.stop(); }

}  // namespace ringside::replay
