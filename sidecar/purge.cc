#include "sidecar/purge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "http/error_response.h"
#include "http/exchange.h"
#include "http/internal_fields.h"

namespace ringside::sidecar {
namespace {

// How many stored responses the replica removed; an Error where it did not confirm.
http::Task<Result<std::size_t>> purge_one(CoreState& state, const Settings& settings,
                                          const Endpoint& address, const std::string& head,
                                          SteadyPoint deadline) {
  http::Exchange exchange(state.core, state.replicas);
  const http::ExchangeLimits limits{settings.connect_timeout, settings.first_byte_timeout,
                                    deadline};
  http::OutgoingRequest request;
  request.method = "PURGE";
  request.head = head;
  const auto answered = co_await exchange.ask(address, request, limits);
  if (!answered) co_return answered.error();
  if (exchange.head().status != 200) {
    co_return Error{ErrorKind::forbidden, ErrorSource::peer, Retry::no,
                    fmt::format("answered {}", exchange.head().status)};
  }
  const auto digits =
      exchange.head().fields.first(http::internal::purged).value_or(std::string_view{});
  std::size_t removed = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), removed);
  while (!exchange.connection().body_done()) {
    if (!co_await exchange.connection().read_body()) break;
  }
  exchange.finish();
  co_return removed;
}

}  // namespace

http::Task<PurgeReport> purge_replicas(CoreState& state, const Snapshot& snapshot,
                                       const std::string& host, const std::string& target) {
  const Settings& settings = *snapshot.settings;
  const SteadyPoint deadline = state.core.steady_now() + settings.request_deadline;
  const std::string head = fmt::format("PURGE {} HTTP/1.1\r\nHost: {}\r\n\r\n", target, host);
  PurgeReport report;
  for (std::size_t index = 0; index < settings.addresses.size(); ++index) {
    const auto removed =
        co_await purge_one(state, settings, settings.addresses[index], head, deadline);
    if (removed) {
      report.removed += *removed;
    } else {
      report.missing.push_back(settings.topology->members()[index].name + ": " +
                               removed.error().message);
    }
  }
  // Last: until a replica has confirmed it may still give what is purged, and a near cache keep it.
  state.purges.fetch_add(1);
  co_return report;
}

std::string purge_response(const PurgeReport& report, bool keep_alive) {
  const int status = report.missing.empty() ? 200 : 502;
  std::string body = fmt::format("purged {} stored responses\n", report.removed);
  if (!report.missing.empty()) {
    body += fmt::format("incomplete, not confirmed by {}\n", fmt::join(report.missing, "; "));
  }
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{}\r\n{}",
      status, http::reason_of(status), body.size(), keep_alive ? "" : "Connection: close\r\n",
      body);
}

}  // namespace ringside::sidecar
