#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ringside {

void crash(const char* what, const char* file, int line) noexcept {
  std::fprintf(stderr, "ringside: broken invariant: %s (%s:%d)\n", what, file, line);
  std::abort();
}

}  // namespace ringside
