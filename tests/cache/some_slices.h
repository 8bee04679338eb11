#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/cache/ranged_origin.h"
#include "tests/cache/some_origin.h"

namespace ringside::cache {

inline constexpr std::size_t slice_bytes = 64 * limits::kKiB;
// An object of five slices, of which the last is half of one.
inline constexpr std::size_t object_bytes = 4 * slice_bytes + slice_bytes / 2;

inline Rules in_slices() {
  Rules rules;
  rules.slice_size_bytes = slice_bytes;
  return rules;
}

// An origin, and a replica whose one route has slices.
struct Slices {
  explicit Slices(support::ScriptedPeer::Script script,
                  std::size_t memory_bytes = 16 * limits::kMiB, std::size_t cores = 2)
      : origin(std::move(script)), replica(origin.address(), memory_bytes, cores) {
    set_rules(replica, in_slices());
  }
  // What of Range the origin was asked for, from the request of that number on; "": the whole.
  [[nodiscard]] std::vector<std::string> ranges(std::size_t first = 0) const {
    std::vector<std::string> asked;
    const auto heads = origin.heads();
    for (std::size_t index = first; index < heads.size(); ++index) {
      asked.push_back(support::field(heads[index], "range"));
    }
    return asked;
  }

  support::ScriptedPeer origin;
  SomeReplica replica;
};

// How the first slice is asked for, whatever the object's length.
inline std::string first_slice() { return fmt::format("bytes=0-{}", slice_bytes - 1); }
// How the others are asked for.
inline std::string slice(std::size_t index, std::size_t size_bytes) {
  const std::size_t end = std::min((index + 1) * slice_bytes, size_bytes);
  return fmt::format("bytes={}-{}", index * slice_bytes, end - 1);
}
inline std::vector<std::string> all_slices(std::size_t size_bytes) {
  std::vector<std::string> ranges{first_slice()};
  for (std::size_t index = 1; index * slice_bytes < size_bytes; ++index) {
    ranges.push_back(slice(index, size_bytes));
  }
  return ranges;
}

// Serves the one of the objects that `which` says.
inline support::ScriptedPeer::Script serves_one_of(std::vector<Object> objects,
                                                   std::atomic<std::size_t>& which) {
  return [objects = std::move(objects), &which](support::Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.send(objects.at(which.load()).answer_to(request));
    }
  };
}

}  // namespace ringside::cache
