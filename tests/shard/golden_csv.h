#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::shard {

// A row of tests/golden/, by the names of its columns.
using GoldenRow = std::map<std::string, std::string>;

// What stands in quotes is one, without them.
inline std::vector<std::string> split(std::string_view line, char separator) {
  std::vector<std::string> cells;
  for (;;) {
    const std::size_t quoted = line.starts_with('"') ? line.find('"', 1) : 0;
    const std::size_t end = line.find(separator, quoted);
    cells.emplace_back(quoted > 0 ? line.substr(1, quoted - 1) : line.substr(0, end));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

// One line without its end, which some of the files write as CR LF (RFC 4180).
inline bool read_line(std::istream& in, std::string& line) {
  if (!std::getline(in, line)) return false;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

// The rows of a file. Fails the test where it is missing, empty or ragged.
inline std::vector<GoldenRow> read_golden(const std::string& file) {
  std::ifstream in(std::string(RINGSIDE_SOURCE_DIR) + "/tests/golden/" + file);
  EXPECT_TRUE(in.is_open()) << file;
  std::vector<GoldenRow> rows;
  std::string line;
  EXPECT_TRUE(read_line(in, line)) << file;
  const std::vector<std::string> columns = split(line, ',');
  while (read_line(in, line)) {
    const std::vector<std::string> cells = split(line, ',');
    EXPECT_EQ(cells.size(), columns.size()) << file << ": " << line;
    if (cells.size() != columns.size()) break;
    GoldenRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) row[columns[i]] = cells[i];
  }
  EXPECT_FALSE(rows.empty()) << file;
  return rows;
}

}  // namespace ringside::shard
