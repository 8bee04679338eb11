#include "http1/spare_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace ringside::http {

SpareDescriptors::~SpareDescriptors() {
  while (release()) continue;
}

void SpareDescriptors::fill() noexcept {
  while (count_ < held_.size()) {
    const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    held_[count_++] = descriptor;
  }
}

bool SpareDescriptors::release() noexcept {
  if (count_ == 0) return false;
  ::close(held_[--count_]);
  return true;
}

}  // namespace ringside::http
