#include "base/check.h"

#include <pthread.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace ringside {

void crash(const char* what, const char* file, int line) noexcept {
  std::array<char, 16> thread{};  // its name is the component's
  pthread_getname_np(pthread_self(), thread.data(), thread.size());
  std::fprintf(stderr, "ringside: %s: broken invariant: %s (%s:%d)\n", thread.data(), what, file,
               line);
  std::abort();
}

}  // namespace ringside
