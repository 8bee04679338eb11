#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulate/simulation.h"

namespace ringside::simulate {

struct Report {
  std::string keys_title;  // what they are, in words
  std::size_t keys = 0;
  std::vector<std::string> steps;  // their titles
  std::vector<Row> rows;
};

// `10 -> 11`, or `10` where there was nothing before.
[[nodiscard]] std::string change_title(const Report& report, const Row& row);

// Aligned, for people.
[[nodiscard]] std::string to_table(const Report& report);
[[nodiscard]] std::string to_json(const Report& report);
// RFC 4180, a line for each row and one before them with the columns' names.
[[nodiscard]] std::string to_csv(const Report& report);

// Chart.js as it is fetched: its program and its licence.
struct ChartLibrary {
  std::string program;
  std::string licence;
};
// One page with plots and the table that asks for nothing else when it is opened.
[[nodiscard]] std::string to_page(const Report& report, const ChartLibrary& library);

// The columns of the table, on a terminal as on the page, and each row's text under them; a row
// that was refused has scheme, step and refusal alone.
struct Column {
  std::string_view title;
  std::string_view meaning;
  std::string (*text)(const Report& report, const Row& row);
};
[[nodiscard]] const std::vector<Column>& columns();

}  // namespace ringside::simulate
