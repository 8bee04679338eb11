#include "sidecar/probe.h"

#include "base/limits.h"

namespace ringside::sidecar {

Task<Result<void>> probe(net::Core& core, hop::Upstreams& upstreams, const std::string& name,
                         const Endpoint& address) {
  const http::Target target{"*", {}, false};
  const std::string host = address.text();
  hop::UpstreamRequest request;
  request.method = "OPTIONS";
  request.target = &target;
  request.host = host;
  request.peer = name;
  request.fields = "Max-Forwards: 0\r\nConnection: close\r\n";
  const hop::UpstreamLimits limits{limits::probe_timeout, limits::probe_timeout,
                                   core.steady_now() + limits::probe_timeout};
  const auto exchange = upstreams.exchange();
  co_return co_await exchange->ask(address, request, limits);
}

}  // namespace ringside::sidecar
