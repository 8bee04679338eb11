#include "program/spelling.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ringside::program {
namespace {

// Optimal string alignment distance (Damerau 1964): three rows of the usual table.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string_view closest(std::string_view text, std::span<const std::string_view> words) {
  constexpr std::size_t longest_considered = 64;  // no key is longer; the table is text x word
  if (text.size() > longest_considered) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, text.size() / 3) + 1;
  for (const std::string_view word : words) {
    const std::size_t letters = distance(text, word);
    if (letters < best_distance) {
      best = word;
      best_distance = letters;
    }
  }
  return best;
}

}  // namespace ringside::program
