#include "metrics/exposition.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "metrics/families.h"
#include "metrics/sheet.h"
#include "metrics/table.h"

namespace ringside::metrics {
namespace {

// A family of figures that something else keeps, and tells when it is asked.
template <class Figures>
struct FigureRow {
  std::string_view name;
  std::string_view help;
  Kind kind;
  std::variant<std::uint64_t Figures::*, double Figures::*, bool Figures::*> value;
  std::string_view label{};  // its own, beside those of all
  std::string_view label_value{};
};

constexpr auto topology_rows = std::to_array<FigureRow<TopologyFigures>>({
    {"ringside_topology_version", "Version of the topology in use, as its source numbers it.",
     Kind::gauge, &TopologyFigures::version},
    {"ringside_topology_replicas", "Replicas in the topology in use.", Kind::gauge,
     &TopologyFigures::replicas},
});

constexpr auto store_rows = std::to_array<FigureRow<StoreFigures>>({
    {"ringside_store_entries", "Stored responses.", Kind::gauge, &StoreFigures::entries},
    {"ringside_store_bytes", "Memory charged to stored responses.", Kind::gauge,
     &StoreFigures::used_bytes},
    {"ringside_store_limit_bytes", "Memory that stored responses may take.", Kind::gauge,
     &StoreFigures::limit_bytes},
    {"ringside_store_evictions_total", "Stored responses removed to make room.", Kind::counter,
     &StoreFigures::evictions},
    {"ringside_store_flights", "Fetches in progress that others can join.", Kind::gauge,
     &StoreFigures::flights},
    {"ringside_buckets_away", "Buckets that are to come here and that another replica holds.",
     Kind::gauge, &StoreFigures::buckets_away},
    {"ringside_moved_responses_total", "Stored responses that came from other replicas.",
     Kind::counter, &StoreFigures::moved_responses},
    {"ringside_moved_bytes_total", "Bytes of their bodies.", Kind::counter,
     &StoreFigures::moved_bytes},
    {"ringside_moved_left_out_total",
     "Stored responses that were left out when their buckets moved.", Kind::counter,
     &StoreFigures::moved_left_out},
    {"ringside_moves_waiting", "Replicas whose batches wait because the store here is full.",
     Kind::gauge, &StoreFigures::moves_waiting},
});

constexpr std::string_view refused = "ringside_origin_refused_total";
constexpr std::string_view refused_help = "Requests that no origin was asked for, to spare it.";
constexpr auto origin_rows = std::to_array<FigureRow<OriginFigures>>({
    {"ringside_origin_queue_depth", "Requests that wait until their origin has room for them.",
     Kind::gauge, &OriginFigures::queued},
    {"ringside_origin_requests_in_flight", "Requests that origins work on.", Kind::gauge,
     &OriginFigures::in_use},
    {refused, refused_help, Kind::counter, &OriginFigures::refused_queue_full, "reason",
     "queue_full"},
    {refused, refused_help, Kind::counter, &OriginFigures::refused_queue_timeout, "reason",
     "queue_timeout"},
    {refused, refused_help, Kind::counter, &OriginFigures::refused_circuit_open, "reason",
     "circuit_open"},
    {"ringside_origin_circuits_opened_total",
     "How often an origin has failed so much that it was left alone.", Kind::counter,
     &OriginFigures::circuits_opened},
    {"ringside_origin_circuits_open", "Origins that are left alone now.", Kind::gauge,
     &OriginFigures::circuits_open},
});

constexpr std::string_view reloads = "ringside_configuration_reloads_total";
constexpr std::string_view reloads_help =
    "Times that the configuration was loaded again, by what came of it.";
constexpr auto operation_rows = std::to_array<FigureRow<OperationFigures>>({
    {reloads, reloads_help, Kind::counter, &OperationFigures::reloads_applied, "result", "applied"},
    {reloads, reloads_help, Kind::counter, &OperationFigures::reloads_refused, "result", "refused"},
    {"ringside_configuration_last_reload_successful", "1, or 0 where the last reload was refused.",
     Kind::gauge, &OperationFigures::last_reload_successful},
    {"ringside_log_dropped_total",
     "Lines that the log misses, because nobody took those before them.", Kind::counter,
     &OperationFigures::log_dropped},
});

using Discovery = OperationFigures::Discovery;
constexpr auto discovery_rows = std::to_array<FigureRow<Discovery>>({
    {"ringside_discovery_up",
     "1, or 0 while the source of the members is away and the last ones stay.", Kind::gauge,
     &Discovery::in_touch},
    {"ringside_discovery_last_answer_timestamp_seconds",
     "When the source of the members last answered, since the Unix epoch.", Kind::gauge,
     &Discovery::last_answer_timestamp_seconds},
    {"ringside_discovery_topologies_total", "Times that news of the members were put to use.",
     Kind::counter, &Discovery::topologies},
    {"ringside_discovery_read_again_total",
     "Times that a peer told of an unknown topology and the source was asked at once.",
     Kind::counter, &Discovery::read_again},
    {"ringside_replicas_ready", "Members that their source calls ready.", Kind::gauge,
     &Discovery::replicas_ready},
});

using AccessLog = OperationFigures::AccessLog;
constexpr auto access_log_rows = std::to_array<FigureRow<AccessLog>>({
    {"ringside_access_log_written_total", "Lines written to the access log.", Kind::counter,
     &AccessLog::written},
    {"ringside_access_log_dropped_total",
     "Requests that the access log has no line of, because it was too slow.", Kind::counter,
     &AccessLog::dropped},
    {"ringside_access_log_failures_total",
     "Times that the access log could not be written or opened.", Kind::counter,
     &AccessLog::failures},
});

constexpr auto process_rows = std::to_array<FigureRow<ProcessFigures>>({
    {"process_cpu_seconds_total", "User and system CPU time spent.", Kind::counter,
     &ProcessFigures::cpu_seconds},
    {"process_start_time_seconds", "Start of the process since the Unix epoch.", Kind::gauge,
     &ProcessFigures::start_time_seconds},
    {"process_resident_memory_bytes", "Resident memory size.", Kind::gauge,
     &ProcessFigures::resident_memory_bytes},
    {"process_open_fds", "Open file descriptors.", Kind::gauge, &ProcessFigures::open_fds},
});

double number(std::uint64_t value) { return static_cast<double>(value); }
double seconds(std::uint64_t duration_us) { return static_cast<double>(duration_us) / 1e6; }

template <class Rows, class Figures>
void add_figures(Families& families, const Rows& figure_rows, const Figures& figures,
                 const LabelValues& labels = {}) {
  for (const auto& row : figure_rows) {
    const double value = std::visit(
        [&](const auto member) { return static_cast<double>(figures.*member); }, row.value);
    auto all = labels;
    if (!row.label.empty()) all.emplace_back(row.label, row.label_value);
    families.add(row.kind, row.name, row.help, std::move(all), value);
  }
}

// One component's series: those of the rows, and of what is set.
class Component {
 public:
  Component(Families& families, const Totals& totals)
      : families_(families),
        totals_(totals),
        role_{"role", totals.role == Role::sidecar ? "sidecar" : "cache"} {}

  void add() {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (is_exposed(rows[i].roles)) add(rows[i], first_cell(scope_of(rows[i]), i));
    }
    const LabelValues shard{{"shard", totals_.name}}, own{role_, shard.front()};
    if (const auto& topology = totals_.topology) {
      add_figures(families_, topology_rows, *topology, own);
      families_.add(Kind::gauge, "ringside_topology_info",
                    "1, with the id of the topology in use; equal ids are equal topologies.",
                    {own[0], own[1], {"id", topology->id}}, 1);
    }
    if (totals_.store) add_figures(families_, store_rows, *totals_.store, shard);
    if (totals_.origins) add_figures(families_, origin_rows, *totals_.origins, own);
  }

 private:
  [[nodiscard]] bool is_exposed(Roles roles) const noexcept {
    return roles == Roles::both || (roles == Roles::sidecar) == (totals_.role == Role::sidecar);
  }

  void add(const Row& row, std::size_t first_cell) {
    if (scope_of(row) == Scope::component) {
      add_series(row, &totals_.cells[first_cell], totals_.name);
      return;
    }
    double replicas = 0;
    for (const auto& shard : totals_.shards) {
      const bool is_replica = shard.name != totals_.name;
      const std::uint64_t* cells = &shard.cells[first_cell];
      if (row.has(Label::any_replica)) {
        if (is_replica && *cells > 0) ++replicas;
      } else if (is_replica || row.has(Label::shard)) {
        add_series(row, cells, shard.name);
      }
    }
    if (row.has(Label::any_replica)) families_.add(Kind::gauge, row.name, row.help, {}, replicas);
  }

  void add_series(const Row& row, const std::uint64_t* cells, const std::string& shard) {
    const std::size_t width = values_of(row.kind == Kind::histogram ? Label::bucket : Label::none);
    for (std::size_t i = 0; i < cells_of(row); i += width) {
      const std::uint64_t* series = cells + i;
      const bool is_zero = std::all_of(series, series + width, [](auto cell) { return cell == 0; });
      if (is_zero && row.from == From::first_event) continue;
      auto labels = labels_of(row, i, shard);
      if (row.kind == Kind::histogram) {
        families_.add_histogram(row.name, row.help, std::move(labels), histogram_of(series));
      } else {
        families_.add(row.kind, row.name, row.help, std::move(labels), number(*series));
      }
    }
  }

  [[nodiscard]] LabelValues labels_of(const Row& row, std::size_t cell,
                                      const std::string& shard) const {
    LabelValues out;
    std::size_t size = cells_of(row);
    for (const Label label : row.labels()) {
      size /= values_of(label);
      if (label == Label::role) out.push_back(role_);
      if (is_shard(label)) out.emplace_back("shard", shard);
      append(out, label, cell / size);
      cell %= size;
    }
    return out;
  }

  static Families::Histogram histogram_of(const std::uint64_t* cells) {
    Families::Histogram out;
    for (const auto bound : duration_bounds_us) out.bounds.push_back(seconds(bound));
    out.counts.assign(cells, cells + duration_bucket_count);
    out.sum = seconds(cells[duration_bucket_count]);
    return out;
  }

  Families& families_;
  const Totals& totals_;
  const std::pair<std::string, std::string> role_;
};

void add_process(Families& families, const ProcessFigures& process) {
  add_figures(families, process_rows, process);
  if (process.max_fds == 0) return;  // no limit
  families.add(Kind::gauge, "process_max_fds", "File descriptors that may be open.", {},
               number(process.max_fds));
}

void add_operation(Families& families, const OperationFigures& operation) {
  add_figures(families, operation_rows, operation);
  if (operation.discovery) {
    add_figures(families, discovery_rows, *operation.discovery);
    for (const auto& [reason, failures] : operation.discovery->failures) {
      families.add(Kind::counter, "ringside_discovery_failures_total",
                   "Times that the source of the members failed to tell them, by reason.",
                   {{"reason", reason}}, number(failures));
    }
  }
  if (operation.access_log) add_figures(families, access_log_rows, *operation.access_log);
}

}  // namespace

std::string expose(const std::vector<Totals>& totals, const std::optional<ProcessFigures>& process,
                   std::string_view version, const std::optional<OperationFigures>& operation) {
  Families families;
  for (const Totals& component : totals) Component(families, component).add();
  families.add(Kind::gauge, "ringside_build_info", "1, with the version of this program.",
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
