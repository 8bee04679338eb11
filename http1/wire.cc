#include "http1/wire.h"

#include "http1/conversation.h"
#include "http1/pool.h"
#include "http1/server.h"

namespace ringside::http {
namespace {

class WireServer final : public hop::Server {
 public:
  WireServer(net::CoreGroup& cores, hop::ServerTerms terms)
      : terms_(std::move(terms)),
        server_(cores, [this](Connection& client) { return serve(client); },
                {.address_limit = terms_.address_limit,
                 .connections_per_core = terms_.connections_per_core}) {}

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
    co_await converse(client, *handler,
                      terms_.access_log ? &terms_.access_log->queue(core.index()) : nullptr);
  }

  const hop::ServerTerms terms_;
  http::Server server_;
};

class Http1Wire final : public hop::Wire {
 public:
  [[nodiscard]] std::unique_ptr<hop::Server> serve(net::CoreGroup& cores,
                                                   hop::ServerTerms terms) const override {
    return std::make_unique<WireServer>(cores, std::move(terms));
  }
  [[nodiscard]] std::unique_ptr<hop::Upstreams> upstreams(net::Core& core,
                                                          ErrorSource kind) const override {
    return std::make_unique<Pool>(core, kind);
  }
};

}  // namespace

const hop::Wire& wire() noexcept {
  static const Http1Wire http1;
  return http1;
}

}  // namespace ringside::http
