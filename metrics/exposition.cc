#include "metrics/exposition.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "metrics/families.h"
#include "metrics/sheet.h"

namespace ringside::metrics {
namespace {

std::string_view role_name(Role role) noexcept {
  return role == Role::sidecar ? "sidecar" : "cache";
}

constexpr std::array<std::string_view, origin_answer_count> answer_names = {"2xx", "3xx", "4xx",
                                                                            "5xx", "failed"};

constexpr std::array<std::string_view, probe_answer_count> probe_names = {"answered", "failed"};

double number(std::uint64_t value) { return static_cast<double>(value); }
double seconds(std::uint64_t duration_us) { return static_cast<double>(duration_us) / 1e6; }

std::string country_code(std::size_t index) {
  return {static_cast<char>('A' + index / 26), static_cast<char>('A' + index % 26)};
}

// One component's series. What can be listed beforehand stands there from the start with 0, so that
// rate() sees the first event; what can't, or would be mostly zeros, appears with its first event.
class Component {
 public:
  Component(Families& families, const Totals& totals)
      : families_(families), totals_(totals), role_(role_name(totals.role)) {}

  void add() {
    add_requests();
    add_countries();
    add_durations();
    add_response_bytes();
    add_origin_requests();
    add_errors();
    add_connections();
    if (totals_.role == Role::sidecar) add_replicas();
    if (totals_.topology) add_topology(*totals_.topology);
    if (totals_.store) add_store(*totals_.store);
    if (totals_.origins) add_origins(*totals_.origins);
  }

 private:
  static std::string result(std::size_t outcome) {
    return std::string(metrics::name(static_cast<Outcome>(outcome)));
  }

  void add_requests() {
    for (const auto& shard : totals_.shards) {
      for (std::size_t i = 0; i < outcome_count; ++i) {
        families_.add_counter("ringside_requests_total",
                              "Requests answered, by how and by the replica that answered.",
                              {{"role", role_}, {"result", result(i)}, {"shard", shard.name}},
                              number(shard.requests[i]));
      }
    }
  }

  void add_countries() {
    for (std::size_t country = 0; country < country_count; ++country) {
      for (std::size_t i = 0; i < outcome_count; ++i) {
        const auto requests = totals_.countries[country][i];
        if (requests == 0) continue;
        families_.add_counter(
            "ringside_country_requests_total",
            "Requests answered, by the client's country (ISO 3166-1; ZZ: unknown).",
            {{"role", role_}, {"country", country_code(country)}, {"result", result(i)}},
            number(requests));
      }
    }
  }

  void add_durations() {
    Families::Histogram histogram;
    for (const auto bound : duration_bounds_us) histogram.bounds.push_back(seconds(bound));
    for (std::size_t i = 0; i < outcome_count; ++i) {
      const auto& counts = totals_.durations[i].buckets;
      if (std::all_of(counts.begin(), counts.end(), [](auto count) { return count == 0; })) {
        continue;
      }
      histogram.counts.assign(counts.begin(), counts.end());
      histogram.sum = seconds(totals_.durations[i].sum_us);
      families_.add_histogram("ringside_request_duration_seconds",
                              "Time from a request's head to the end of its answer.",
                              {{"role", role_}, {"result", result(i)}}, histogram);
    }
  }

  void add_response_bytes() {
    for (std::size_t i = 0; i < outcome_count; ++i) {
      families_.add_counter("ringside_response_bytes_total", "Bytes of answers' bodies sent.",
                            {{"role", role_}, {"result", result(i)}},
                            number(totals_.response_bytes[i]));
    }
  }

  void add_origin_requests() {
    for (std::size_t i = 0; i < origin_answer_count; ++i) {
      families_.add_counter(
          "ringside_origin_requests_total",
          "Requests sent to the origin, by the class of its answer's status.",
          {{"role", role_}, {"shard", totals_.name}, {"answer", std::string(answer_names[i])}},
          number(totals_.origin_requests[i]));
    }
  }

  void add_errors() {
    families_.add_counter("ringside_retries_total",
                          "Requests sent again, or on to another owner than the first.",
                          {{"role", role_}}, number(totals_.retries));
    const auto add = [&](ErrorSource source, std::string_view kind, std::uint64_t errors) {
      families_.add_counter("ringside_errors_total",
                            "Errors met, by whose doing they were and what they were.",
                            {{"role", role_},
                             {"source", std::string(ringside::name(source))},
                             {"kind", std::string(kind)}},
                            number(errors));
    };
    for (std::size_t i = 0; i < error_source_count; ++i) {
      const auto source = static_cast<ErrorSource>(i);
      for (std::size_t j = 0; j < error_kind_count; ++j) {
        add(source, ringside::name(static_cast<ErrorKind>(j)), totals_.errors_by_kind[i][j]);
      }
    }
    add(ErrorSource::origin, "failed_over", totals_.errors_failed_over);
  }

  void add_connections() {
    const auto labels = own_labels();
    families_.set_gauge("ringside_connections", "Client connections that are open.", labels,
                        number(totals_.connections_open));
    families_.add_counter("ringside_connections_total", "Client connections accepted.", labels,
                          number(totals_.connections));
  }

  void add_replicas() {
    std::uint64_t ejected = 0;
    for (const auto& shard : totals_.shards) {
      if (shard.name == totals_.name) continue;  // no replica
      families_.add_counter("ringside_replica_ejections_total",
                            "Times that a core of the sidecar took a failing replica out.",
                            {{"shard", shard.name}}, number(shard.ejections));
      families_.add_counter("ringside_invalidations_failed_total",
                            "Invalidations that a replica did not confirm in time.",
                            {{"shard", shard.name}}, number(shard.invalidations_failed));
      if (shard.cores_without > 0) ++ejected;
    }
    for (std::size_t i = 0; i < probe_answer_count; ++i) {
      families_.add_counter("ringside_replica_probes_total",
                            "Probes of replicas that were silent or taken out.",
                            {{"result", std::string(probe_names[i])}}, number(totals_.probes[i]));
    }
    families_.set_gauge("ringside_replicas_ejected",
                        "Replicas that a core of the sidecar, or more, does not ask now.", {},
                        number(ejected));
  }

  void add_topology(const TopologyFigures& topology) {
    auto labels = own_labels();
    families_.set_gauge("ringside_topology_version",
                        "Version of the topology in use, as its source numbers it.", labels,
                        number(topology.version));
    families_.set_gauge("ringside_topology_replicas", "Replicas in the topology in use.", labels,
                        number(topology.replicas));
    labels.emplace_back("id", topology.id);
    families_.set_gauge("ringside_topology_info",
                        "1, with the id of the topology in use; equal ids are equal topologies.",
                        labels, 1);
  }

  void add_store(const StoreFigures& store) {
    const Families::Labels labels = {{"shard", totals_.name}};
    families_.set_gauge("ringside_store_entries", "Stored responses.", labels,
                        number(store.entries));
    families_.set_gauge("ringside_store_bytes", "Memory charged to stored responses.", labels,
                        number(store.used_bytes));
    families_.set_gauge("ringside_store_limit_bytes", "Memory that stored responses may take.",
                        labels, number(store.limit_bytes));
    families_.add_counter("ringside_store_evictions_total",
                          "Stored responses removed to make room.", labels,
                          number(store.evictions));
    families_.set_gauge("ringside_store_flights", "Fetches in progress that others can join.",
                        labels, number(store.flights));
  }

  void add_origins(const OriginFigures& origins) {
    const auto labels = own_labels();
    families_.set_gauge("ringside_origin_queue_depth",
                        "Requests that wait until their origin has room for them.", labels,
                        number(origins.queued));
    families_.set_gauge("ringside_origin_requests_in_flight", "Requests that origins work on.",
                        labels, number(origins.in_use));
    const auto refused = [&](std::string_view reason, std::uint64_t count) {
      auto with_reason = labels;
      with_reason.emplace_back("reason", reason);
      families_.add_counter("ringside_origin_refused_total",
                            "Requests that no origin was asked for, to spare it.", with_reason,
                            number(count));
    };
    refused("queue_full", origins.refused_queue_full);
    refused("queue_timeout", origins.refused_queue_timeout);
    refused("circuit_open", origins.refused_circuit_open);
    families_.add_counter("ringside_origin_circuits_opened_total",
                          "How often an origin has failed so much that it was left alone.", labels,
                          number(origins.circuits_opened));
    families_.set_gauge("ringside_origin_circuits_open", "Origins that are left alone now.", labels,
                        number(origins.circuits_open));
  }

  [[nodiscard]] Families::Labels own_labels() const {
    return {{"role", role_}, {"shard", totals_.name}};
  }

  Families& families_;
  const Totals& totals_;
  std::string role_;
};

void add_process(Families& families, const ProcessFigures& process) {
  families.add_counter("process_cpu_seconds_total", "User and system CPU time spent.", {},
                       process.cpu_seconds);
  families.set_gauge("process_start_time_seconds", "Start of the process since the Unix epoch.", {},
                     process.start_time_seconds);
  families.set_gauge("process_resident_memory_bytes", "Resident memory size.", {},
                     number(process.resident_memory_bytes));
  families.set_gauge("process_open_fds", "Open file descriptors.", {}, number(process.open_fds));
  if (process.max_fds == 0) return;
  families.set_gauge("process_max_fds", "File descriptors that may be open.", {},
                     number(process.max_fds));
}

void add_discovery(Families& families, const OperationFigures::Discovery& discovery) {
  families.set_gauge("ringside_discovery_up",
                     "1, or 0 while the source of the members is away and the last ones stay.", {},
                     discovery.in_touch ? 1 : 0);
  families.set_gauge("ringside_discovery_last_answer_timestamp_seconds",
                     "When the source of the members last answered, since the Unix epoch.", {},
                     discovery.last_answer_timestamp_seconds);
  families.add_counter("ringside_discovery_topologies_total",
                       "Times that news of the members were put to use.", {},
                       number(discovery.topologies));
  families.set_gauge("ringside_replicas_ready", "Members that their source calls ready.", {},
                     number(discovery.replicas_ready));
  for (const auto& [reason, failures] : discovery.failures) {
    families.add_counter("ringside_discovery_failures_total",
                         "Times that the source of the members failed to tell them, by reason.",
                         {{"reason", reason}}, number(failures));
  }
}

void add_operation(Families& families, const OperationFigures& operation) {
  const auto add_reloads = [&](const char* result, std::uint64_t reloads) {
    families.add_counter("ringside_configuration_reloads_total",
                         "Times that the configuration was loaded again, by what came of it.",
                         {{"result", result}}, number(reloads));
  };
  add_reloads("applied", operation.reloads_applied);
  add_reloads("refused", operation.reloads_refused);
  families.set_gauge("ringside_configuration_last_reload_successful",
                     "1, or 0 where the last reload was refused.", {},
                     operation.last_reload_successful ? 1 : 0);
  if (operation.discovery) add_discovery(families, *operation.discovery);
  if (!operation.access_log) return;
  families.add_counter("ringside_access_log_written_total", "Lines written to the access log.", {},
                       number(operation.access_log->written));
  families.add_counter("ringside_access_log_dropped_total",
                       "Requests that the access log has no line of, because it was too slow.", {},
                       number(operation.access_log->dropped));
  families.add_counter("ringside_access_log_failures_total",
                       "Times that the access log could not be written or opened.", {},
                       number(operation.access_log->failures));
}

}  // namespace

std::string expose(const std::vector<Totals>& totals, const std::optional<ProcessFigures>& process,
                   std::string_view version, const std::optional<OperationFigures>& operation) {
  Families families;
  for (const Totals& component : totals) Component(families, component).add();
  families.set_gauge("ringside_build_info", "1, with the version of this program.",
                     {{"version", std::string(version)}}, 1);
  if (operation) add_operation(families, *operation);
  if (process) add_process(families, *process);
  return families.text();
}

std::string expose(const std::vector<Totals>& totals, const OperationFigures& operation) {
  return expose(totals, read_process(), RINGSIDE_VERSION, operation);
}

std::string expose(const std::vector<const Sheet*>& sheets) {
  std::vector<Totals> totals;
  totals.reserve(sheets.size());
  for (const Sheet* sheet : sheets) totals.push_back(sheet->totals());
  return expose(totals, read_process(), RINGSIDE_VERSION);
}

}  // namespace ringside::metrics
