#include "sidecar/purge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "http1/error_response.h"
#include "sidecar/every_replica.h"

namespace ringside::sidecar {

Task<PurgeReport> purge_replicas(CoreState& state, const Snapshot& snapshot,
                                 const std::string& host, const std::string& target) {
  const Settings& settings = *snapshot.settings;
  const std::string head = fmt::format("PURGE {} HTTP/1.1\r\nHost: {}\r\n\r\n", target, host);
  http::OutgoingRequest request;
  request.method = "PURGE";
  request.head = head;
  const SteadyPoint deadline = state.core.steady_now() + settings.request_deadline;
  const auto answers = co_await ask_every_replica(state, settings, request, deadline);
  PurgeReport report;
  for (std::size_t index = 0; index < answers.size(); ++index) {
    const auto& removed = answers[index];
    if (removed) {
      report.removed += *removed;
    } else {
      report.missing.push_back(settings.membership->topology->members()[index].name + ": " +
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
