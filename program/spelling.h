#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringside::program {

// The word that `text` was probably meant to be: the one with the fewest letters added, left out,
// changed or swapped with their neighbour, where those are few for its length. Empty: none is near.
[[nodiscard]] std::string_view closest(std::string_view text,
                                       std::span<const std::string_view> words);

}  // namespace ringside::program
