#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tests/simulation/less.h"

namespace ringside::simulation {

// The first thing that `play` says by EXPECT or ASSERT, of which the test hears nothing; nullopt:
// it has nothing to say.
[[nodiscard]] std::optional<std::string> failure_of(const std::function<void()>& play);

struct Smaller {
  Less less;
  std::string failure;
};
// What fails is played again with less and less. Each knob is tried once, and left where it still
// fails. Nullopt: it fails with no less than now.
[[nodiscard]] std::optional<Smaller> shrink(const std::function<void()>& play);

// What a test adds to its failure: how to play something smaller that fails as well, where there
// is any.
[[nodiscard]] std::string shrunk(std::string_view test, std::uint64_t seed,
                                 const std::function<void()>& play);

}  // namespace ringside::simulation
