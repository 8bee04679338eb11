#pragma once

#include <cstddef>
#include <string>

namespace ringside::program {

// 1489 → 1,489
[[nodiscard]] inline std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, ",");
  return digits;
}

}  // namespace ringside::program
