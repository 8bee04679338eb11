#include "base/terminate.h"

#include <pthread.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace ringside {
namespace {

// No memory is asked for: it may be what there is too little of.
[[noreturn]] void say_and_abort(const char* what) noexcept {
  std::array<char, 16> thread{};
  pthread_getname_np(pthread_self(), thread.data(), thread.size());
  std::fprintf(stderr, "ringside: %s ended by an exception, and all with it: %s\n", thread.data(),
               what);
  std::abort();
}

}  // namespace

void crash_by(const std::exception_ptr& thrown) noexcept {
  if (!thrown) say_and_abort("none; std::terminate was called");
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& exception) {
    say_and_abort(exception.what());
  } catch (...) {
    say_and_abort("of no known type");
  }
}

void crash_on_uncaught() noexcept {
  std::set_terminate([] { crash_by(std::current_exception()); });
}

}  // namespace ringside
