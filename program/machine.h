#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/cgroup.h"
#include "base/limits.h"

namespace ringside::program {

// What this process may use of the machine that it runs on: defaults and shares are of it.
struct Machine {
  std::size_t cores = 1;           // at least 1
  std::uint64_t memory_bytes = 0;  // 0: not known
  std::uint64_t descriptors = 0;   // that it may have open; 0: not known
};

// Of what the machine has and what the process's control groups leave it. A part of a core counts
// as one: two threads that get one and a half are faster than one alone.
[[nodiscard]] Machine machine_within(const CgroupLimits& limits, std::size_t cores,
                                     std::uint64_t memory_bytes) noexcept;

struct ThisMachine {
  Machine machine;
  std::vector<std::string> complaints;  // what could not be read of it, for the log
};
// Read at the first call and the same ever after, so that all who ask count the same cores.
[[nodiscard]] const ThisMachine& this_machine();

// What one of `halves` in a process may hold at once, so that connections alone can neither use up
// the machine's memory nor the descriptors that probes and administrators need.
struct Allowance {
  std::size_t connections = 0;     // of clients; a quarter of the descriptors is upstreams'
  std::size_t buffered_bytes = 0;  // in their buffers

  friend bool operator==(const Allowance&, const Allowance&) = default;
};
[[nodiscard]] Allowance allowance(const Machine& machine, std::size_t halves) noexcept;

// The memory of a replica's store as it is configured: a size, or a share of the machine's.
struct StoreMemory {
  std::size_t size_bytes = limits::store_memory_bytes;
  unsigned percent = 0;  // 0: the size counts

  friend bool operator==(const StoreMemory&, const StoreMemory&) = default;
};

// Shares in whole MiB, at least limits::store_memory_least_bytes.
[[nodiscard]] std::size_t store_bytes(const StoreMemory& memory, const Machine& machine) noexcept;

// A warning where the store alone would fill the machine; empty where it does not.
[[nodiscard]] std::string memory_warning(const StoreMemory& memory, const Machine& machine);

}  // namespace ringside::program
