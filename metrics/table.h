#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "metrics/labels.h"

namespace ringside::metrics {

enum class Roles : std::uint8_t { both, sidecar, cache };

// When a series is first exposed. With 0 from the start, so that rate() sees the first event; or
// with its first event, where most of a family's series would be zeros for ever.
enum class From : std::uint8_t { start, first_event };

// A family of what the cores count. Its series are all values of its labels.
struct Row {
  std::string_view name;
  std::string_view help;
  Kind kind;
  Roles roles;
  From from;
  Label first = Label::none;
  Label second = Label::none;
  Label third = Label::none;

  [[nodiscard]] constexpr std::array<Label, 3> labels() const noexcept {
    return {first, second, third};
  }
  [[nodiscard]] constexpr bool has(Label label) const noexcept {
    return first == label || second == label || third == label;
  }
};

// All of them, in the order of the exposition. A row and the place that counts it is what a counter
// takes (and its line in docs/metrics.md, which a test asks for): the cores' sheets, the totals and
// the exposition go over the rows.
inline constexpr auto rows = [] {
  using enum Kind;
  using enum Roles;
  using enum Label;
  using enum From;
  return std::to_array<Row>({
      {"ringside_requests_total", "Requests answered, by how and by the replica that answered.",
       counter, both, start, role, result, shard},
      {"ringside_country_requests_total",
       "Requests answered, by the client's country (ISO 3166-1; ZZ: unknown).", counter, both,
       first_event, role, country, result},
      {"ringside_request_duration_seconds", "Time from a request's head to the end of its answer.",
       histogram, both, first_event, role, result, bucket},
      {"ringside_response_bytes_total", "Bytes of answers' bodies sent.", counter, both, start,
       role, result},
      {"ringside_origin_requests_total",
       "Requests sent to the origin, by the class of its answer's status.", counter, both, start,
       role, own_shard, answer},
      {"ringside_retries_total", "Requests sent again, or on to another owner than the first.",
       counter, both, start, role},
      {"ringside_errors_total", "Errors met, by whose doing they were and what they were.", counter,
       both, start, role, error},
      {"ringside_connections", "Client connections that are open.", gauge, both, start, role,
       own_shard},
      {"ringside_connections_total", "Client connections accepted.", counter, both, start, role,
       own_shard},
      {"ringside_links", "Links with other members that are open.", gauge, both, start, role,
       own_shard},
      {"ringside_link_faults_total", "Links closed because what came on them made no sense.",
       counter, both, start, role, own_shard},
      {"ringside_link_tickets_total",
       "Answers that a link did not carry, and HTTP/1.1 was to fetch.", counter, both, start, role,
       own_shard},
      {"ringside_near_hits_total", "Hits that a near cache of the sidecar gave.", counter, sidecar,
       start, role},
      {"ringside_holder_requests_total",
       "Requests of a replica to the holder of a bucket that it owns and does not hold.", counter,
       cache, start, own_shard, holder},
      {"ringside_holder_fallbacks_total",
       "Requests that went to the origin because no holder of the bucket could answer them.",
       counter, cache, start, own_shard},
      {"ringside_refusals_total",
       "Requests of sidecars that were refused, because another replica holds the bucket.", counter,
       cache, start, own_shard},
      {"ringside_split_wait_seconds", "Time that fetches waited for their bucket to move.",
       histogram, cache, first_event, own_shard, bucket},
      {"ringside_replica_ejections_total",
       "Times that a core of the sidecar took a failing replica out.", counter, sidecar, start,
       replica},
      {"ringside_invalidations_failed_total",
       "Invalidations that a replica did not confirm in time.", counter, sidecar, start, replica},
      {"ringside_replica_probes_total",
       "Probes of replicas that were silent or taken out, or have missed a purge.", counter,
       sidecar, start, probe},
      {"ringside_replicas_ejected",
       "Replicas that a core of the sidecar, or more, does not ask now.", gauge, sidecar, start,
       any_replica},
  });
}();

// What a row is counted for: a component, or each of the names that its sheet tells apart.
enum class Scope : std::uint8_t { component, shard };

[[nodiscard]] constexpr Scope scope_of(const Row& row) noexcept {
  const bool by_shard =
      row.has(Label::shard) || row.has(Label::replica) || row.has(Label::any_replica);
  return by_shard ? Scope::shard : Scope::component;
}

// A row has a cell for each series (a histogram's for each bucket and for the sum), counted through
// its labels' values, the last one fastest. The cells of one scope lie one after the other.
[[nodiscard]] constexpr std::size_t cells_of(const Row& row) noexcept {
  std::size_t cells = 1;
  for (const Label label : row.labels()) cells *= values_of(label);
  return cells;
}

// Where a row's cells begin; behind the last one's, how many there are.
[[nodiscard]] constexpr std::size_t first_cell(Scope scope, std::size_t row) noexcept {
  std::size_t cells = 0;
  for (std::size_t before = 0; before < row; ++before) {
    if (scope_of(rows[before]) == scope) cells += cells_of(rows[before]);
  }
  return cells;
}
inline constexpr std::size_t component_cells = first_cell(Scope::component, rows.size());
inline constexpr std::size_t shard_cells = first_cell(Scope::shard, rows.size());

// A row by its name, found while compiling; no name of a row, or of one with other labels than
// those Values are of, does not compile. What is left of it is an index.
template <Scope scope, class... Values>
class Named {
 public:
  // Not explicit: it stands for the name.
  consteval Named(const char* name) : first_(place_of(name)) {}  // NOLINT(*explicit*)

  [[nodiscard]] constexpr std::size_t first() const noexcept { return first_; }
  [[nodiscard]] static constexpr std::size_t size() noexcept {
    return (std::size_t{1} * ... * values_of(label_of<Values>));
  }
  [[nodiscard]] static constexpr std::size_t offset(Values... values) noexcept {
    std::size_t at = 0;
    ((at = at * values_of(label_of<Values>) + static_cast<std::size_t>(values)), ...);
    return at;
  }

 private:
  static consteval std::size_t place_of(std::string_view name) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].name != name) continue;
      if (scope_of(rows[i]) != scope || !has_labels(rows[i])) throw "the row has other labels";
      return first_cell(scope, i);
    }
    throw "no row has that name";
  }
  static consteval bool has_labels(const Row& row) {
    const std::array<Label, sizeof...(Values)> labels{label_of<Values>...};
    std::size_t found = 0;
    for (const Label label : row.labels()) {
      if (values_of(label) == 1) continue;
      if (found == labels.size() || labels[found] != label) return false;
      ++found;
    }
    return found == labels.size();
  }

  std::size_t first_;
};

}  // namespace ringside::metrics
