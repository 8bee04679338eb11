#include "k8s/halt.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"

namespace ringside::k8s {

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Bell::Bell() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  RINGSIDE_CHECK(event_.get() >= 0);
}

void Bell::ring() const noexcept { ::eventfd_write(event_.get(), 1); }

void Bell::still() const noexcept {
  eventfd_t rings = 0;
  ::eventfd_read(event_.get(), &rings);
}

Halt::Halt() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  RINGSIDE_CHECK(event_.get() >= 0);
}

void Halt::order() noexcept {
  const std::lock_guard lock(mutex_);
  if (ordered_.exchange(true)) return;
  RINGSIDE_CHECK(::eventfd_write(event_.get(), 1) == 0);
  for (const Descriptor& each : held_) ::shutdown(each.get(), SHUT_RDWR);
}

void Halt::cut() noexcept {
  const std::lock_guard lock(mutex_);
  for (const Descriptor& each : held_) ::shutdown(each.get(), SHUT_RDWR);
}

Halt::Hold::Hold(Halt& halt, int socket) : halt_(halt) {
  const std::lock_guard lock(halt_.mutex_);
  held_ = halt_.held_.emplace(halt_.held_.end(), ::fcntl(socket, F_DUPFD_CLOEXEC, 0));
  // Without a duplicate (EMFILE) it could not be ended: it ends now.
  if (halt_.ordered() || held_->get() < 0) ::shutdown(socket, SHUT_RDWR);
}

Halt::Hold::~Hold() {
  const std::lock_guard lock(halt_.mutex_);
  halt_.held_.erase(held_);
}

}  // namespace ringside::k8s
