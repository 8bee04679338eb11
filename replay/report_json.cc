#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "replay/report.h"

namespace ringside::replay {
namespace {

using Json = nlohmann::ordered_json;

Json as_value(std::optional<double> number) { return number ? Json(*number) : Json(nullptr); }

Json as_object(const Tally& tally, const TierKey& key) {
  return {{"requests", tally.requests},
          {"gets", tally.gets},
          {"hits", tally.hits},
          {"repeats", tally.repeats},
          {"hit_rate_percent", as_value(hit_rate_percent(tally))},
          {"best_rate_percent", as_value(best_rate_percent(tally, key))},
          {"errors", tally.errors},
          {"p50_us", tally.latency.percentile_us(50)},
          {"p99_us", tally.latency.percentile_us(99)}};
}

Json as_object(const std::vector<NamedTally>& groups, const TierKey& key) {
  Json object = Json::object();
  for (const NamedTally& group : groups) object[group.name] = as_object(group.tally, key);
  return object;
}

}  // namespace

std::string as_json(const Report& report) {
  Json json{{"source", report.source},
            {"duration_us", report.took.count()},
            {"good", report.is_good()},
            {"shard_key", report.key.text},
            {"all", as_object(report.all, report.key)},
            {"phases", as_object(report.phases, report.key)},
            {"replicas", as_object(report.caches, report.key)},
            {"countries", as_object(report.countries, report.key)},
            {"misses_again", report.misses_again},
            {"skipped", report.skipped}};
  if (report.change && report.moves) {
    json["change"] = {{"from_replicas", report.change->from_replicas},
                      {"to_replicas", report.change->to_replicas},
                      {"keys", report.moves->keys},
                      {"keys_moved", report.moves->moved},
                      {"keys_moved_elsewhere", report.moves->elsewhere},
                      {"keys_fetched_again", report.moves->fetched_again}};
  }
  if (report.origin_fetches) json["origin_fetches"] = *report.origin_fetches;
  json["comparisons"] = Json::array();
  for (const Comparison& one : report.comparisons) {
    json["comparisons"].push_back({{"what", one.what},
                                   {"counted_by", one.counted_by},
                                   {"counted", one.counted},
                                   {"by_metrics", one.by_metrics},
                                   {"agrees", one.agrees()}});
  }
  if (!report.key.unknown.empty()) json["best_unknown"] = report.key.unknown;
  json["errors_by_reason"] = Json::object();
  for (const auto& [reason, count] : report.errors) json["errors_by_reason"][reason] = count;
  // Names come from the wire: bytes that are no UTF-8 are replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_lines(std::span<const LogRequest> requests, const Journal& journal) {
  std::string out = "line\tclient\tmethod\ttarget\tstatus\treplica\thit\tresult\n";
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const LogRequest& request = requests[i];
    const Reply& reply = journal.replies[i];
    const std::string_view replica =
        reply.cache == Reply::no_cache ? "-" : std::string_view(journal.caches[reply.cache]);
    const std::string_view result = reply.is_error() ? "error"
                                    : reply.outcome  ? metrics::name(*reply.outcome)
                                                     : "-";
    fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", request.line,
                   request.client.text(), request.method, request.target,
                   reply.status == 0 ? "-" : std::to_string(reply.status), replica,
                   reply.is_hit() ? 1 : 0, result);
  }
  return out;
}

}  // namespace ringside::replay
