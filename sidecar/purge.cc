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

using Scope = http::PurgeTarget::Scope;

Task<PurgeReport> purge_replicas(CoreState& state, const Snapshot& snapshot,
                                 const http::PurgeTarget& purged) {
  const Settings& settings = *snapshot.settings;
  const bool is_below = purged.scope == Scope::below;
  // A URI as it stands, with its query.
  const http::Target target{is_below ? "*" : purged.path_and_query, {}, false};
  hop::UpstreamRequest request;
  request.method = "PURGE";
  request.target = &target;
  request.host = purged.host;
  // Who follows another one tells those whom we do not know.
  http::FieldLines fields;
  fields.add(http::internal::topology, settings.membership->topology_id);
  if (is_below) fields.add(http::internal::purge_below, purged.path_and_query);
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

void log_purge(const http::PurgeTarget& purged, const PurgeReport& report, std::string_view by,
               std::uint64_t left_out) {
  const std::string uri = quotation(purged.host + purged.path_and_query);
  const std::string what = purged.scope == Scope::everything ? "everything"
                           : purged.scope == Scope::below    ? "all that begins with " + uri
                                                             : uri;
  const std::string missing = report.missing.empty() ? ""
                                                     : fmt::format("; not confirmed by {}",
                                                                   fmt::join(report.missing, "; "));
  const std::string others =
      left_out == 0 ? "" : fmt::format("; {} more since the last such line", left_out);
  log::info("purged {}: {} responses; by {}{}{}", what, report.removed, by, missing, others);
}

std::string_view why_nothing_was_purged(const http::PurgeTarget& purged) noexcept {
  if (purged.path_and_query.find('*') != std::string::npos) {
    return "A * stands for itself: there are no patterns. Purge each URL, all that begin alike "
           "(ringside purge --prefix), or everything (ringside purge --all)";
  }
  if (purged.scope == Scope::below) {
    return "Nothing that is stored begins so. Write the URL as clients ask for it, with the same "
           "host and port, and single slashes where the routes merge them";
  }
  return "Nothing is stored of it. If clients have asked for it, write the URL as they do, with "
         "the "
         "same host, port, path and query";
}

void make_purge_response(http::Response& out, const PurgeReport& report,
                         const http::PurgeTarget& purged, TimePoint now) {
  const int status = report.missing.empty() ? 200 : 502;
  std::string text = fmt::format("purged {} stored responses\n", report.removed);
  if (!report.missing.empty()) {
    text += fmt::format("incomplete, not confirmed by {}\n", fmt::join(report.missing, "; "));
  } else if (report.removed == 0 && purged.scope != Scope::everything) {
    text += fmt::format("{}\n", why_nothing_was_purged(purged));
  }
  out.begin(status, http::reason_of(status));
  out.fields.add("Content-Type", "text/plain; charset=utf-8");
  out.fields.add("Content-Length", fmt::to_string(text.size()));
  http::add_date(out.fields, now);
  out.body = http::Body(std::move(text));
}

}  // namespace ringside::sidecar
