#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/time.h"

namespace ringside::log {

// Folds lines that say the same again and again, such as those of a replica that comes and goes:
// of each text limits::log_same_lines are written in limits::log_fold_interval, and then one that
// tells how many more there were. An operator who does something a few times sees a line for each.
// It knows limits::log_folded_texts; of more different ones each is written. A value; not
// thread-safe.
class Folding {
 public:
  // Whether it is written; else it is counted.
  [[nodiscard]] bool is_written(Level level, std::string_view text, SteadyPoint now);

  struct Folded {
    Level level;
    std::string text;
    std::uint64_t count;
  };
  // What was counted, and has not been told, of those whose interval is over. Each once.
  [[nodiscard]] std::vector<Folded> due(SteadyPoint now);
  // The same of all.
  [[nodiscard]] std::vector<Folded> rest();

 private:
  struct Row {
    Level level;
    std::string text;
    SteadyPoint begun;        // of the interval
    std::uint64_t lines = 1;  // in it, written or not
  };
  template <class Is>
  std::vector<Folded> take(const Is& is_over);

  std::list<Row> rows_;  // the one that began last stands last
};

}  // namespace ringside::log
