#include "sidecar/probe.h"

#include <fmt/format.h>

#include <charconv>

#include "base/limits.h"
#include "http/internal_fields.h"

namespace ringside::sidecar {

std::optional<Error> wants_proof(const http::ResponseHead& head) {
  if (!head.fields.has(http::internal::unproven)) return std::nullopt;
  return Error{
      ErrorKind::untrusted, ErrorSource::peer, Retry::yes,
      "it wants a proof of membership; give this sidecar its --peer-key-file, or start the "
      "replica, too, with --insecure-peers"};
}

Task<Result<std::uint64_t>> probe(net::Core& core, hop::Upstreams& upstreams, Probed replica,
                                  std::string_view lines) {
  const http::Target target{"*", {}, false};
  const std::string host = replica.address.text();
  hop::UpstreamRequest request;
  request.method = "OPTIONS";
  request.target = &target;
  request.host = host;
  const std::string fields = fmt::format("Max-Forwards: 0\r\nConnection: close\r\n{}", lines);
  request.fields = fields;
  request.peer = replica.name;
  const hop::UpstreamLimits limits{limits::probe_timeout, limits::probe_timeout,
                                   core.steady_now() + limits::probe_timeout};
  const auto exchange = upstreams.exchange();
  const auto answered = co_await exchange->ask(replica.address, request, limits);
  if (!answered) co_return answered.error();
  if (auto refused = wants_proof(exchange->head())) co_return *std::move(refused);
  const auto digits = exchange->head().fields.first(http::internal::heeded);
  std::uint64_t heeded = 0;
  if (digits) std::from_chars(digits->data(), digits->data() + digits->size(), heeded);
  co_return heeded;
}

}  // namespace ringside::sidecar
