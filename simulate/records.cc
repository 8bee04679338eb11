#include "simulate/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ringside::simulate {
namespace {

using Json = nlohmann::ordered_json;

// The names are those of CSV's columns too. What is not known is null, and empty in CSV.
Json json_of_row(const Report& report, const Row& row) {
  const bool known = row.refusal.empty();
  const auto told = [known](auto value) { return known ? Json(value) : Json(); };
  const auto& movement = row.figures.movement;
  const auto moved = [&movement](auto member) {
    return movement ? Json((*movement).*member) : Json();
  };
  return {
      {"scheme", row.scheme},
      {"step", row.step},
      {"before", row.before ? Json(report.steps[*row.before]) : Json()},
      {"after", report.steps[row.step]},
      {"refused", known ? Json() : Json(row.refusal)},
      {"moved_keys", moved(&Movement::keys)},
      {"moved_keys_least", moved(&Movement::least_keys)},
      {"moved_percent", moved(&Movement::keys_percent)},
      {"moved_percent_least", moved(&Movement::least_percent)},
      {"moved_between_stays_percent", moved(&Movement::between_stays_percent)},
      {"hit_rate_dip_points", moved(&Movement::weight_percent)},
      {"keys_peak", told(row.figures.keys.peak)},
      {"keys_min", told(row.figures.keys.least)},
      {"keys_deviation", told(row.figures.keys.deviation)},
      {"empty_replicas", told(row.figures.empty)},
      {"requests_peak", told(row.figures.weight.peak)},
      {"requests_min", told(row.figures.weight.least)},
      {"requests_deviation", told(row.figures.weight.deviation)},
      {"memory_bytes", row.cost.memory_bytes == 0 ? Json() : Json(row.cost.memory_bytes)},
      {"build_ms", told(row.cost.build_ms)},
      {"look_up_ns", told(row.cost.look_up_ns)},
  };
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  return fmt::format("{}\r\n", fmt::join(fields, ","));
}

}  // namespace

Json json_of(const Report& report) {
  Json rows = Json::array();
  for (const Row& row : report.rows) rows.push_back(json_of_row(report, row));
  return {{"title", report.keys_title},
          {"keys", report.keys},
          {"steps", report.steps},
          {"rows", std::move(rows)}};
}

std::string to_json(const Report& report) {
  return json_of(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_csv(const Report& report) {
  std::string out;
  for (const Row& row : report.rows) {
    const Json record = json_of_row(report, row);
    std::vector<std::string> names;
    std::vector<std::string> fields;
    for (const auto& [name, value] : record.items()) {
      names.push_back(name);
      fields.push_back(csv_field(value));
    }
    if (out.empty()) out = csv_line(names);
    out += csv_line(fields);
  }
  return out;
}

}  // namespace ringside::simulate
