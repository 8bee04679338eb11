#pragma once

#include <exception>

namespace ringside {

// What ends one thread ends the process: a tier without one of its parts would go on wrongly. Says
// in one line on stderr which part it was (the thread's name) and what was thrown, and aborts.
[[noreturn]] void crash_by(const std::exception_ptr& thrown) noexcept;

// From here on whatever nobody catches, on any thread, ends in crash_by().
void crash_on_uncaught() noexcept;

}  // namespace ringside
