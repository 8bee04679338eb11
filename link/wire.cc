#include "link/wire.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "base/seldom.h"
#include "http/internal_fields.h"
#include "http1/pool.h"
#include "http1/wire.h"
#include "link/answering.h"
#include "link/links.h"
#include "link/switch.h"
#include "link/tickets.h"

namespace ringside::link {
namespace {

// How connections of one core become links, and how requests over HTTP/1.1 come to what was begun
// on one.
class Door final : public http::Crossing {
 public:
  Door(net::Core& core, std::size_t cores) : core_(core), cores_(cores), tickets_(core) {}

  [[nodiscard]] bool takes_connection(const http::RequestHead& request, const hop::Handler& handler,
                                      http::Response& response) override {
    if (core_.draining() || !handler.trusts_caller() || !asks_for_link(request)) return false;
    make_switch_response(response);
    return true;
  }
  [[nodiscard]] std::shared_ptr<hop::RequestInHand> begun(const http::RequestHead& request,
                                                          const hop::Handler& handler) override {
    const std::uint64_t number = ticket_of(request, handler);
    const auto begun = number != 0 ? tickets_.take(number, request) : nullptr;
    if (!begun) return nullptr;
    return {begun, &begun->in_hand()};
  }
  [[nodiscard]] std::optional<std::size_t> begun_on(const http::RequestHead& request,
                                                    const hop::Handler& handler) override {
    const std::uint64_t number = ticket_of(request, handler);
    const std::size_t index = core_of(number);
    if (number == 0 || index == core_.index() || index >= cores_) return std::nullopt;
    return index;
  }
  [[nodiscard]] bool advertises_to(const http::RequestHead& request,
                                   const hop::Handler& handler) const override {
    return request.fields.has(http::internal::topology) && handler.trusts_caller();
  }
  void advertise(http::Response& response) const override {
    response.fields.add(http::internal::link, version);
  }
  [[nodiscard]] Task<void> carry_on(http::Connection& client, hop::Handler& handler,
                                    hop::AccessLog::Queue* log) override {
    Answering answering(client, handler, log, tickets_);
    handler.count(LinkEvent::opened);
    const Error end = co_await answering.run();
    handler.count(LinkEvent::closed);
    if (end.kind != ErrorKind::malformed) co_return;
    handler.count(LinkEvent::faulty);
    if (const auto held_back = complaints_.next(core_.steady_now())) {
      const auto caller = handler.caller();
      log::warning("the link of {} at {} is closed: {}{}", caller ? caller->name : "somebody",
                   client.remote().text(), end.message,
                   *held_back == 0 ? "" : fmt::format(" ({} such lines before)", *held_back));
    }
  }

 private:
  // 0: it has none, or who says so is not believed.
  static std::uint64_t ticket_of(const http::RequestHead& request, const hop::Handler& handler) {
    const auto said = request.fields.first(http::internal::ticket);
    return said && handler.trusts_caller() ? parse_ticket(*said) : 0;
  }

  net::Core& core_;
  const std::size_t cores_;
  log::Seldom complaints_{limits::peer_complaint_interval};
  Tickets tickets_;
};

class LinkWire final : public hop::Wire {
 public:
  [[nodiscard]] std::unique_ptr<hop::Server> serve(net::CoreGroup& cores,
                                                   hop::ServerTerms terms) const override {
    return http::serve(cores, std::move(terms), [count = cores.size()](net::Core& core) {
      return std::make_unique<Door>(core, count);
    });
  }
  [[nodiscard]] std::unique_ptr<hop::Upstreams> upstreams(net::Core& core,
                                                          ErrorSource kind) const override {
    return std::make_unique<http::Pool>(core, kind);
  }
  [[nodiscard]] std::unique_ptr<hop::Upstreams> members(
      net::Core& core, std::function<void(LinkEvent)> count) const override {
    return std::make_unique<Links>(core, std::move(count));
  }
};

}  // namespace

const hop::Wire& wire() noexcept {
  static const LinkWire link;
  return link;
}

}  // namespace ringside::link
