#include "base/log_folding.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::log {

template <class Is>
std::vector<Folding::Folded> Folding::take(const Is& is_over) {
  std::vector<Folded> taken;
  for (auto row = rows_.begin(); row != rows_.end();) {
    if (!is_over(*row)) {
      ++row;
      continue;
    }
    if (row->lines > limits::log_same_lines) {
      taken.push_back({row->level, std::move(row->text), row->lines - limits::log_same_lines});
    }
    row = rows_.erase(row);
  }
  return taken;
}

std::vector<Folding::Folded> Folding::due(SteadyPoint now) {
  return take([now](const Row& row) { return now - row.begun >= limits::log_fold_interval; });
}

std::vector<Folding::Folded> Folding::rest() {
  return take([](const Row&) { return true; });
}

bool Folding::is_written(Level level, std::string_view text, SteadyPoint now) {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) {
    return one.level == level && one.text == text;
  });
  if (row != rows_.end()) return ++row->lines <= limits::log_same_lines;
  if (rows_.size() == limits::log_folded_texts) {
    // One that has nothing to tell is forgotten; where all have, this one is not counted.
    const auto quiet = std::find_if(rows_.begin(), rows_.end(), [](const Row& one) {
      return one.lines <= limits::log_same_lines;
    });
    if (quiet == rows_.end()) return true;
    rows_.erase(quiet);
  }
  rows_.push_back({level, std::string(text), now});
  return true;
}

}  // namespace ringside::log
