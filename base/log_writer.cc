#include "base/log_writer.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <system_error>
#include <thread>

#include "base/limits.h"
#include "base/lines.h"

namespace ringside::log {

static_assert(limits::log_line_size_bytes <= PIPE_BUF);

void Writer::write(std::string_view lines) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + in_hand_bytes_ + lines.size() > limits::log_queue_bytes) {
      dropped_ += lines_in(lines);
      return;
    }
    // Without the thread whoever has something to say writes it, as far as that goes at once.
    if (!begun_ && !begin()) return put(lines, 0);
    waiting_ += lines;
  }
  changed_.notify_all();
}

// The thread takes no signals: they are for the one that waits for them.
bool Writer::begin() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread([this] { run(); });
    pthread_setname_np(thread.native_handle(), "log");
    thread.detach();
    begun_ = true;
  } catch (const std::system_error&) {  // tried again with the next line
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return begun_;
}

void Writer::flush(Milliseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return waiting_.empty() && in_hand_bytes_ == 0; });
}

void Writer::run() {
  std::string in_hand;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    in_hand.swap(waiting_);
    in_hand_bytes_ = in_hand.size();
    lock.unlock();
    put(in_hand, -1);
    in_hand.clear();
    lock.lock();
    in_hand_bytes_ = 0;
    changed_.notify_all();
  }
}

// What can't be written at all is dropped: there is nobody left to tell.
void Writer::put(std::string_view lines, int patience_ms) {
  while (!lines.empty()) {
    const std::string_view piece = piece_for_pipe(lines);
    pollfd ready{file_, POLLOUT, 0};
    if (patience_ms >= 0 && ::poll(&ready, 1, patience_ms) == 0) {
      dropped_ += lines_in(lines);
      return;
    }
    const ssize_t wrote = ::write(file_, piece.data(), piece.size());
    if (wrote >= 0) {
      lines.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {  // made so by somebody who has it, too
      static_cast<void>(::poll(&ready, 1, patience_ms));
    } else if (errno != EINTR) {
      dropped_ += lines_in(lines);
      return;
    }
  }
}

}  // namespace ringside::log
