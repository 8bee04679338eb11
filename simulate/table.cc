#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "simulate/report.h"

namespace ringside::simulate {
namespace {

constexpr std::size_t texts = 2;  // the first columns are words, the others numbers
constexpr std::string_view gap = "  ";

struct Line {
  std::vector<std::string> cells;
  std::string refusal;
};

std::vector<Line> lines_of(const Report& report) {
  std::vector<Line> lines(1);
  for (const Column& column : columns()) lines.front().cells.emplace_back(column.title);
  for (const Row& row : report.rows) {
    Line& line = lines.emplace_back();
    line.refusal = row.refusal;
    const std::size_t known = row.refusal.empty() ? columns().size() : texts;
    for (std::size_t i = 0; i < known; ++i) line.cells.push_back(columns()[i].text(report, row));
  }
  return lines;
}

}  // namespace

std::string to_table(const Report& report) {
  const std::vector<Line> lines = lines_of(report);
  std::vector<std::size_t> widths(columns().size());
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      widths[i] = std::max(widths[i], line.cells[i].size());
    }
  }
  std::string out = report.keys_title + "\n\n";
  const auto into = std::back_inserter(out);
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      if (i > 0) out += gap;
      fmt::format_to(into, fmt::runtime(i < texts ? "{:<{}}" : "{:>{}}"), line.cells[i], widths[i]);
    }
    if (!line.refusal.empty()) fmt::format_to(into, "{}refused: {}", gap, line.refusal);
    out += '\n';
  }
  out += '\n';
  for (const Column& column : columns()) {
    if (!column.meaning.empty())
      fmt::format_to(into, "  {:<11} {}\n", column.title, column.meaning);
  }
  return out;
}

}  // namespace ringside::simulate
