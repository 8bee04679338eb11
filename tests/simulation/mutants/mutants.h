#pragma once

#include <cstddef>

namespace ringside::simulation {

// Whether the code is to do what is wrong with that mutant: its place in mutants.py.
[[nodiscard]] bool is_chosen(std::size_t mutant) noexcept;

}  // namespace ringside::simulation
