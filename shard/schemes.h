#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "shard/topology.h"

namespace ringside::shard {

// A scheme by its name. `make` takes the members as a topology holds them: checked and sorted.
struct SchemeEntry {
  std::string_view name;
  Result<std::shared_ptr<const Scheme>> (*make)(std::span<const Member> members) = nullptr;
};

// Every scheme there is, sorted by name.
[[nodiscard]] std::span<const SchemeEntry> all_schemes() noexcept;

// An Error lists the names that there are.
[[nodiscard]] Result<SchemeEntry> find_scheme(std::string_view name);

}  // namespace ringside::shard
