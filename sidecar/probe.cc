#include "sidecar/probe.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "http1/exchange.h"

namespace ringside::sidecar {

Task<Result<void>> probe(net::Core& core, http::Pool& pool, const Endpoint& address) {
  const std::string head =
      fmt::format("OPTIONS * HTTP/1.1\r\nHost: {}\r\nMax-Forwards: 0\r\nConnection: close\r\n\r\n",
                  address.text());
  http::OutgoingRequest request;
  request.method = "OPTIONS";
  request.head = head;
  const http::ExchangeLimits limits{limits::probe_timeout, limits::probe_timeout,
                                    core.steady_now() + limits::probe_timeout};
  http::Exchange exchange(core, pool);
  co_return co_await exchange.ask(address, request, limits);
}

}  // namespace ringside::sidecar
