#include "simulate/measure.h"

#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "base/simulate_limits.h"

namespace ringside::simulate {
namespace {

// What is in use, in arenas and in mappings of its own. Sanitizers' allocators tell 0.
std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

double thread_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

constexpr double ns_per_ms = 1e6;

double as_ns(Milliseconds time) { return static_cast<double>(time.count()) * ns_per_ms; }

}  // namespace

Result<Built> build(const TopologyPointer& before, const std::vector<shard::Member>& members,
                    std::string_view scheme, const KeySet& keys) {
  std::vector<TopologyPointer> topologies;
  topologies.reserve(limits::simulate_builds);
  const shard::State state = next_state(before, members, scheme, keys);
  const std::uint64_t version = before ? before->version() + 1 : 1;
  double least_ns = std::numeric_limits<double>::infinity();
  const std::size_t heap_before = heap_bytes();
  const double all_began = thread_ns();
  while (topologies.size() < limits::simulate_builds) {
    const double began = thread_ns();
    auto made = shard::Topology::make(members, scheme, version, state);
    const double ended = thread_ns();
    if (!made) return made.error();
    least_ns = std::min(least_ns, ended - began);
    topologies.push_back(*std::move(made));
    if (ended - all_began > as_ns(limits::simulate_build_most)) break;
  }
  const std::size_t heap_after = heap_bytes();
  Built built{topologies.back(), {}};
  built.cost.build_ms = least_ns / ns_per_ms;
  if (heap_after > heap_before) {
    built.cost.memory_bytes = (heap_after - heap_before) / topologies.size();
  }
  return built;
}

Sample::Sample(const KeySet& keys) {
  const std::size_t count = std::min(keys.size(), limits::simulate_sample);
  std::string room;
  for (std::size_t i = 0; i < count; ++i) {
    texts_.emplace_back(keys.key(i * keys.size() / count, room).bytes);
  }
  for (const std::string& text : texts_) keys_.push_back({text, hash64(text)});
}

double Sample::look_up_ns(const shard::Topology& topology) const {
  double least = std::numeric_limits<double>::infinity();
  std::size_t sum = 0;
  for (int round = 0; round < limits::simulate_look_up_rounds; ++round) {
    std::size_t looked_up = 0;
    const double began = thread_ns();
    double took = 0;
    while (took < as_ns(limits::simulate_look_up_least)) {
      for (const shard::ShardKey& key : keys_) sum += topology.owner(key);
      looked_up += keys_.size();
      took = thread_ns() - began;
    }
    least = std::min(least, took / static_cast<double>(looked_up));
  }
  // So that the compiler can't leave the look-ups out.
  volatile const std::size_t kept = sum;
  static_cast<void>(kept);
  return least;
}

}  // namespace ringside::simulate
