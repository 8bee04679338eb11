#pragma once

#include <array>
#include <cstddef>

#include "base/limits.h"

namespace ringside::http {

// Descriptors that are held for nothing, so that there are some when all others are in use:
// limits::admin_spare_descriptors of them. On one core's thread.
class SpareDescriptors {
 public:
  SpareDescriptors() = default;
  ~SpareDescriptors();
  SpareDescriptors(const SpareDescriptors&) = delete;
  SpareDescriptors& operator=(const SpareDescriptors&) = delete;

  // As many as can be had.
  void fill() noexcept;
  // Gives one to whoever asks the system next. False: none is left.
  bool release() noexcept;

 private:
  std::array<int, limits::admin_spare_descriptors> held_{};
  std::size_t count_ = 0;
};

}  // namespace ringside::http
