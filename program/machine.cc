#include "program/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "program/values.h"

namespace ringside::program {
namespace {

constexpr std::uint64_t whole_percent = 100;

std::uint64_t share_bytes(unsigned percent, std::uint64_t of_bytes) noexcept {
  return of_bytes / whole_percent * percent + of_bytes % whole_percent * percent / whole_percent;
}

// Without those that the process is kept from (cpusets, taskset), which the library counts.
std::size_t machine_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<std::size_t>(CPU_COUNT(&allowed));
  }
  return std::thread::hardware_concurrency();  // more than a cpu_set_t holds
}

std::uint64_t machine_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

// As many as the process may raise its limit to, as it does (program/signals.h).
std::uint64_t machine_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return 0;
  return limit.rlim_max;
}

}  // namespace

Machine machine_within(const CgroupLimits& limits, std::size_t cores,
                       std::uint64_t memory_bytes) noexcept {
  Machine out{std::max<std::size_t>(cores, 1), memory_bytes, 0};
  if (limits.cores && std::ceil(*limits.cores) < static_cast<double>(out.cores)) {
    out.cores = std::max<std::size_t>(static_cast<std::size_t>(std::ceil(*limits.cores)), 1);
  }
  if (limits.memory_bytes && (memory_bytes == 0 || *limits.memory_bytes < memory_bytes)) {
    out.memory_bytes = *limits.memory_bytes;
  }
  return out;
}

const ThisMachine& this_machine() {
  static const ThisMachine machine = [] {
    CgroupLimits limits = read_cgroup_limits(read_kernel_file);
    ThisMachine out{machine_within(limits, machine_cores(), machine_memory_bytes()),
                    std::move(limits.complaints)};
    out.machine.descriptors = machine_descriptors();
    return out;
  }();
  return machine;
}

Allowance allowance(const Machine& machine, std::size_t halves) noexcept {
  std::uint64_t connections = limits::threads * limits::connections_per_core;
  std::uint64_t buffered_bytes = limits::buffered_bytes;
  if (machine.descriptors > 0) {
    const std::uint64_t reserved =
        std::min<std::uint64_t>(limits::descriptors_reserved, machine.descriptors / 2);
    connections = std::min(connections, (machine.descriptors - reserved) / 4 * 3 / halves);
  }
  if (machine.memory_bytes > 0) {
    const std::uint64_t share =
        share_bytes(limits::connections_memory_percent, machine.memory_bytes) / halves;
    buffered_bytes = std::min(buffered_bytes, share);
    connections = std::min(connections, share / limits::connection_size_bytes);
  }
  return {std::max<std::size_t>(connections, 1), buffered_bytes};
}

std::size_t store_bytes(const StoreMemory& memory, const Machine& machine) noexcept {
  if (memory.percent == 0) return memory.size_bytes;
  const std::uint64_t share = share_bytes(memory.percent, machine.memory_bytes);
  return std::clamp<std::uint64_t>(share / limits::kMiB * limits::kMiB,
                                   limits::store_memory_least_bytes,
                                   limits::store_memory_most_bytes);
}

std::string memory_warning(const StoreMemory& memory, const Machine& machine) {
  const std::uint64_t most_bytes =
      share_bytes(limits::store_memory_percent_most, machine.memory_bytes);
  const std::uint64_t store = store_bytes(memory, machine);
  if (machine.memory_bytes == 0 || store <= most_bytes) return {};
  return fmt::format(
      "a store of {} is more than {}% of the {} that this process may use: when it is full the "
      "kernel may end the process; give less, or a share such as 75%, or raise the limit",
      size_text(store), limits::store_memory_percent_most, size_text(machine.memory_bytes));
}

}  // namespace ringside::program
