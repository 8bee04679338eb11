#include <fmt/format.h>

#include "base/limits.h"
#include "simulate/grouped.h"
#include "simulate/report.h"

namespace ringside::simulate {
namespace {

constexpr auto unknown = "-";

// So many digits as tell something, whatever the size.
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

template <auto member>
std::string movement_text(const Report& /*report*/, const Row& row) {
  if (!row.figures.movement) return unknown;
  return fmt::format("{:.2f}", (*row.figures.movement).*member);
}

template <auto balance, auto member>
std::string balance_text(const Report& /*report*/, const Row& row) {
  return fmt::format("{:.3f}", row.figures.*balance.*member);
}

std::string moved_text(const Report& /*report*/, const Row& row) {
  return row.figures.movement ? grouped(row.figures.movement->keys) : unknown;
}

std::string memory_text(const Report& /*report*/, const Row& row) {
  if (row.cost.memory_bytes == 0) return unknown;
  return three_digits(static_cast<double>(row.cost.memory_bytes) / limits::kKiB);
}

}  // namespace

std::string change_title(const Report& report, const Row& row) {
  if (!row.before) return report.steps[row.step];
  return fmt::format("{} -> {}", report.steps[*row.before], report.steps[row.step]);
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      {"SCHEME", "", [](const Report&, const Row& row) { return row.scheme; }},
      {"STEP", "the replicas before and after", change_title},
      {"MOVED", "keys that have another owner than before", moved_text},
      {"MOVED %", "of all keys", movement_text<&Movement::keys_percent>},
      {"LEAST %", "of all keys must move whatever the scheme, if replicas are to be even",
       movement_text<&Movement::least_percent>},
      {"STAY %", "of all keys moved between replicas that are there before and after",
       movement_text<&Movement::between_stays_percent>},
      {"DIP", "points of hit rate that would be lost without a handoff: requests whose key moved",
       movement_text<&Movement::weight_percent>},
      {"PEAK", "keys of the fullest replica, as a multiple of its fair share",
       balance_text<&Figures::keys, &Balance::peak>},
      {"MIN", "of the emptiest", balance_text<&Figures::keys, &Balance::least>},
      {"SD", "standard deviation of these multiples",
       balance_text<&Figures::keys, &Balance::deviation>},
      {"EMPTY", "replicas with a weight that own no key",
       [](const Report&, const Row& row) { return std::to_string(row.figures.empty); }},
      {"REQ PEAK", "the same of requests", balance_text<&Figures::weight, &Balance::peak>},
      {"REQ MIN", "", balance_text<&Figures::weight, &Balance::least>},
      {"REQ SD", "", balance_text<&Figures::weight, &Balance::deviation>},
      {"KIB", "memory of the topology", memory_text},
      {"BUILD MS", "time to build the topology",
       [](const Report&, const Row& row) { return three_digits(row.cost.build_ms); }},
      {"LOOK-UP NS", "time to find the owner of a hashed key",
       [](const Report&, const Row& row) { return three_digits(row.cost.look_up_ns); }},
  };
  return all;
}

}  // namespace ringside::simulate
