#include "sidecar/purge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

#include "base/log.h"
#include "base/quotation.h"
#include "http/error_response.h"
#include "http/field_lines.h"
#include "http/internal_fields.h"
#include "sidecar/every_replica.h"

namespace ringside::sidecar {

Task<PurgeReport> purge_replicas(CoreState& state, const Snapshot& snapshot,
                                 const std::string& host, const std::string& target) {
  const Settings& settings = *snapshot.settings;
  const http::Target purged{target, {}, false};  // as it stands, with its query
  hop::UpstreamRequest request;
  request.method = "PURGE";
  request.target = &purged;
  request.host = host;
  // Who follows another one tells those whom we do not know.
  http::FieldLines fields;
  fields.add(http::internal::topology, settings.membership->topology_id);
  request.fields = fields.text();
  const SteadyPoint deadline = state.core.steady_now() + settings.request_deadline;
  const PurgeIssuer::Issued purge(state.shared.purges);
  const auto answers =
      co_await ask_every_replica(state, snapshot, request, purge.number(), deadline);
  PurgeReport report;
  std::set<std::string> not_relayed;
  for (std::size_t index = 0; index < answers.size(); ++index) {
    const auto& answer = answers[index];
    if (!answer) {
      report.missing.push_back(settings.membership->topology->members()[index].name + ": " +
                               answer.error().message);
      continue;
    }
    report.removed += answer->removed;
    not_relayed.insert(answer->not_relayed.begin(), answer->not_relayed.end());
  }
  for (const std::string& name : not_relayed) {
    report.missing.push_back(name + ": no member here, does not answer those who know it");
  }
  // Last: until a replica has confirmed it may still give what is purged, and a near cache keep it.
  state.shared.forgotten.forget_everything();
  co_return report;
}

void log_purge(std::string_view host, std::string_view target, const PurgeReport& report,
               std::string_view by, std::uint64_t left_out) {
  const std::string what =
      target == "*" ? "everything" : quotation(std::string(host).append(target));
  const std::string missing = report.missing.empty() ? ""
                                                     : fmt::format("; not confirmed by {}",
                                                                   fmt::join(report.missing, "; "));
  const std::string others =
      left_out == 0 ? "" : fmt::format("; {} more since the last such line", left_out);
  log::info("purged {}: {} responses; by {}{}{}", what, report.removed, by, missing, others);
}

std::string_view why_nothing_was_purged(std::string_view target) noexcept {
  if (target.find('*') != std::string_view::npos) {
    return "A * stands for itself: there are no patterns. Purge each URL, or everything (ringside "
           "purge --all)";
  }
  return "Nothing is stored of it. Write the URL as clients ask for it, with the same host, port, "
         "path and query";
}

void make_purge_response(http::Response& out, const PurgeReport& report, std::string_view target,
                         TimePoint now) {
  const int status = report.missing.empty() ? 200 : 502;
  std::string text = fmt::format("purged {} stored responses\n", report.removed);
  if (!report.missing.empty()) {
    text += fmt::format("incomplete, not confirmed by {}\n", fmt::join(report.missing, "; "));
  } else if (report.removed == 0 && target != "*") {
    text += fmt::format("{}\n", why_nothing_was_purged(target));
  }
  out.begin(status, http::reason_of(status));
  out.fields.add("Content-Type", "text/plain; charset=utf-8");
  out.fields.add("Content-Length", fmt::to_string(text.size()));
  http::add_date(out.fields, now);
  out.body = http::Body(std::move(text));
}

}  // namespace ringside::sidecar
