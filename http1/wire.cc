#include "http1/wire.h"

#include <vector>

#include "http1/pool.h"
#include "http1/server.h"

namespace ringside::http {
namespace {

class WireServer final : public hop::Server {
 public:
  WireServer(net::CoreGroup& cores, hop::ServerTerms terms, const MakeCrossing& make_crossing)
      : terms_(std::move(terms)),
        server_(cores, [this](Connection& client) { return serve(client); },
                {.address_limit = terms_.address_limit,
                 .connections_per_core = terms_.connections_per_core}) {
    for (std::size_t index = 0; make_crossing && index < cores.size(); ++index) {
      crossings_.push_back(make_crossing(cores[index]));
    }
  }

  [[nodiscard]] Result<void> listen(const Endpoint& address) override {
    return server_.listen(address);
  }
  [[nodiscard]] Endpoint address() const override { return server_.address(); }
  void drain() override { server_.drain(); }
  [[nodiscard]] std::size_t open_connections() const noexcept override {
    return server_.open_connections();
  }

 private:
  Task<void> serve(Connection& client) {
    net::Core& core = client.core();
    const auto handler = terms_.make_handler(core);
    Crossing* const crossing = crossings_.empty() ? nullptr : crossings_[core.index()].get();
    hop::AccessLog::Queue* const log =
        terms_.access_log != nullptr ? &terms_.access_log->queue(core.index()) : nullptr;
    co_await converse(client, *handler, log, client_terms, crossing);
  }

  const hop::ServerTerms terms_;
  std::vector<std::unique_ptr<Crossing>> crossings_;
  http::Server server_;
};

class Http1Wire final : public hop::Wire {
 public:
  [[nodiscard]] std::unique_ptr<hop::Server> serve(net::CoreGroup& cores,
                                                   hop::ServerTerms terms) const override {
    return http::serve(cores, std::move(terms), nullptr);
  }
  [[nodiscard]] std::unique_ptr<hop::Upstreams> upstreams(net::Core& core,
                                                          ErrorSource kind) const override {
    return std::make_unique<Pool>(core, kind);
  }
  [[nodiscard]] std::unique_ptr<hop::Upstreams> members(
      net::Core& core, std::function<void(LinkEvent)> /*count*/) const override {
    return upstreams(core, ErrorSource::peer);
  }
};

}  // namespace

const hop::Wire& wire() noexcept {
  static const Http1Wire http1;
  return http1;
}

std::unique_ptr<hop::Server> serve(net::CoreGroup& cores, hop::ServerTerms terms,
                                   const MakeCrossing& make_crossing) {
  return std::make_unique<WireServer>(cores, std::move(terms), make_crossing);
}

}  // namespace ringside::http
