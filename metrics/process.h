#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringside::metrics {

// What every Prometheus client tells of its process.
struct ProcessFigures {
  double cpu_seconds = 0;         // user and system
  double start_time_seconds = 0;  // since 1970-01-01
  std::uint64_t resident_memory_bytes = 0;
  std::uint64_t open_fds = 0;
  std::uint64_t max_fds = 0;  // the soft limit; 0 where there is none
};

// Units of what the kernel writes.
struct ProcessUnits {
  long ticks_per_second = 100;
  long page_size_bytes = 4096;
};

// The parts of proc(5) `stat` of a process, whose times count from the boot that `stat` of the
// system names (`btime`). Nothing where either is not of that form; open_fds and max_fds stay 0.
[[nodiscard]] std::optional<ProcessFigures> process_from(std::string_view process_stat,
                                                         std::string_view system_stat,
                                                         const ProcessUnits& units);

// This process, read from /proc now. Nothing where /proc can't be read.
[[nodiscard]] std::optional<ProcessFigures> read_process();

}  // namespace ringside::metrics
