#include "program/signals.h"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>

namespace ringside::program {

Signals::Signals() {
  sigemptyset(&set_);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, number);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(std::signal(SIGCHLD, SIG_IGN));
}

Signals::Event Signals::wait(Milliseconds at_most) const noexcept {
  const auto seconds = std::chrono::duration_cast<Seconds>(at_most);
  const auto rest = std::chrono::nanoseconds(at_most - seconds);
  const timespec timeout{static_cast<std::time_t>(seconds.count()), rest.count()};
  switch (sigtimedwait(&set_, nullptr, &timeout)) {
    case SIGTERM:
    case SIGINT:
      return Event::terminate;
    case SIGHUP:
      return Event::reload;
    default:  // the time was up, or another signal's handler ran
      return Event::none;
  }
}

void Signals::end_at_once() const noexcept {
  struct sigaction action {};
  action.sa_handler = [](int) { ::_exit(1); };
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT}) {
    sigaction(number, &action, nullptr);
    sigaddset(&ends, number);
  }
  pthread_sigmask(SIG_UNBLOCK, &ends, nullptr);
}

void raise_open_files() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // Refused by the system at worst; then what was allowed before still is.
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace ringside::program
