#pragma once

#include <csignal>

#include "base/clock.h"

namespace ringside::program {

// The process's signals, taken by one thread. Made before any other thread is, which then inherit
// the block, so that no signal interrupts a core.
class Signals {
 public:
  enum class Event { none, terminate, reload };

  // Blocks SIGTERM, SIGINT and SIGHUP, so that they reach us as process 1 too, to which the kernel
  // sends no signal that would just end it. Ignores SIGPIPE, which sockets answer with an error
  // anyway, and SIGCHLD: we start no processes, but process 1 of a container inherits others',
  // which the kernel then takes away when they end.
  Signals();
  // The next signal, or `none` after `at_most`.
  [[nodiscard]] Event wait(Milliseconds at_most) const noexcept;
  // From here on nobody waits any more: a SIGTERM or SIGINT that comes, or waits already, ends the
  // process on the spot with exit code 1, whatever it is doing.
  void end_at_once() const noexcept;

 private:
  sigset_t set_{};
};

// Raises the limit on open files as far as we may: each connection needs one.
void raise_open_files() noexcept;

}  // namespace ringside::program
