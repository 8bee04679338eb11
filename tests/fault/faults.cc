#include "tests/fault/faults.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <random>
#include <string_view>

namespace ringside::fault {
namespace {

struct Plan {
  std::mutex mutex;  // of all below
  std::mt19937 random;
  std::array<Odds, calls> odds;
  std::optional<Call> scripted;
  std::uint64_t from = 0;
  std::uint64_t until = 0;
  int error = 0;
  std::array<std::uint64_t, calls> seen{};
  std::array<std::uint64_t, calls> done{};
};

Plan& plan() {
  static Plan made;
  return made;
}
std::atomic<bool> active{false};

// Cores' threads have their component's name (see http::CoreGroup).
bool is_core() noexcept {
  thread_local const bool found = [] {
    std::array<char, 16> name{};
    if (pthread_getname_np(pthread_self(), name.data(), name.size()) != 0) return false;
    const std::string_view text(name.data());
    return text == "sidecar" || text.starts_with("cache-");
  }();
  return found;
}

bool concerned(int descriptor) noexcept {
  if (!active.load(std::memory_order_acquire) || !is_core()) return false;
  struct stat about {};
  return ::fstat(descriptor, &about) == 0 && S_ISSOCK(about.st_mode);
}

// What becomes of a call: an error, a smaller size, or neither.
struct Fate {
  int error = 0;
  std::size_t bytes;
};

Fate fate_of(Call call, std::size_t bytes) {
  Plan& current = plan();
  const std::lock_guard lock(current.mutex);
  const auto index = static_cast<std::size_t>(call);
  const std::uint64_t number = current.seen[index]++;
  Fate fate{0, bytes};
  if (current.scripted) {
    const bool hit = call == *current.scripted && number >= current.from && number < current.until;
    if (hit) fate.error = current.error;
  } else {
    const Odds& odds = current.odds[index];
    double drawn = std::uniform_real_distribution<double>(0, 1)(current.random);
    if (drawn < odds.error) {
      fate.error = odds.errors[current.random() % odds.errors.size()];
    } else if ((drawn -= odds.error) < odds.not_now) {
      fate.error = current.random() % 2 == 0 ? EINTR : EAGAIN;
    } else if (drawn - odds.not_now < odds.cut && bytes > 1) {
      // Mostly a few bytes: that is where heads and chunk lines are torn apart.
      const std::size_t most =
          current.random() % 4 == 0 ? bytes - 1 : std::min<std::size_t>(bytes - 1, 9);
      fate.bytes = 1 + current.random() % most;
    }
  }
  if (fate.error != 0 || fate.bytes != bytes) ++current.done[index];
  return fate;
}

template <class Function>
Function* real(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The message with no more than `bytes`; its parts are in `parts`.
std::size_t size_of(const msghdr& message) noexcept {
  std::size_t bytes = 0;
  for (std::size_t index = 0; index < message.msg_iovlen; ++index) {
    bytes += message.msg_iov[index].iov_len;
  }
  return bytes;
}
msghdr cut(const msghdr& message, std::size_t bytes, std::vector<iovec>& parts) {
  parts.assign(message.msg_iov, message.msg_iov + message.msg_iovlen);
  for (iovec& part : parts) {
    part.iov_len = std::min(part.iov_len, bytes);
    bytes -= part.iov_len;
  }
  msghdr out = message;
  out.msg_iov = parts.data();
  return out;
}

// A connection that has failed stays so, and the other side learns of it by a reset: what an
// unspecified address does to one (see connect(2)).
ssize_t fail(int descriptor, int error) noexcept {
  static auto* const disconnect = real<int(int, const sockaddr*, socklen_t)>("connect");
  if (error == ECONNRESET || error == EPIPE || error == ETIMEDOUT) {
    const sockaddr nowhere{AF_UNSPEC, {}};
    disconnect(descriptor, &nowhere, sizeof nowhere);
  }
  errno = error;
  return -1;
}

void begin(std::optional<Call> scripted) {
  plan().scripted = scripted;
  plan().seen = {};
  plan().done = {};
  active.store(true, std::memory_order_release);
}

}  // namespace

Faults::Faults(std::uint32_t seed, const std::array<Odds, calls>& odds) {
  const std::lock_guard lock(plan().mutex);
  plan().random.seed(seed);
  plan().odds = odds;
  begin(std::nullopt);
}

Faults::Faults(Call call, std::uint64_t number, int error, unsigned length) {
  const std::lock_guard lock(plan().mutex);
  plan().from = number;
  plan().until = number + length;
  plan().error = error;
  begin(call);
}

Faults::~Faults() { active.store(false, std::memory_order_release); }

std::uint64_t Faults::seen(Call call) const {
  const std::lock_guard lock(plan().mutex);
  return plan().seen[static_cast<std::size_t>(call)];
}

std::uint64_t Faults::done(Call call) const {
  const std::lock_guard lock(plan().mutex);
  return plan().done[static_cast<std::size_t>(call)];
}

}  // namespace ringside::fault

// The calls themselves. Their names and signatures are the C library's.
using ringside::fault::Call;
using ringside::fault::concerned;
using ringside::fault::fail;
using ringside::fault::fate_of;
using ringside::fault::real;

// The C library's own names are reserved ones.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

ssize_t recv(int descriptor, void* to, size_t bytes, int flags) {
  static auto* const next = real<ssize_t(int, void*, size_t, int)>("recv");
  if (!concerned(descriptor)) return next(descriptor, to, bytes, flags);
  const auto fate = fate_of(Call::receive, bytes);
  return fate.error != 0 ? fail(descriptor, fate.error) : next(descriptor, to, fate.bytes, flags);
}

ssize_t read(int descriptor, void* to, size_t bytes) {
  static auto* const next = real<ssize_t(int, void*, size_t)>("read");
  if (!concerned(descriptor)) return next(descriptor, to, bytes);
  const auto fate = fate_of(Call::receive, bytes);
  return fate.error != 0 ? fail(descriptor, fate.error) : next(descriptor, to, fate.bytes);
}

ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  static auto* const next = real<ssize_t(int, msghdr*, int)>("recvmsg");
  if (!concerned(descriptor)) return next(descriptor, message, flags);
  const auto fate = fate_of(Call::receive, ringside::fault::size_of(*message));
  if (fate.error != 0) return fail(descriptor, fate.error);
  std::vector<iovec> parts;
  msghdr shorter = ringside::fault::cut(*message, fate.bytes, parts);
  return next(descriptor, &shorter, flags);
}

ssize_t send(int descriptor, const void* from, size_t bytes, int flags) {
  static auto* const next = real<ssize_t(int, const void*, size_t, int)>("send");
  if (!concerned(descriptor)) return next(descriptor, from, bytes, flags);
  const auto fate = fate_of(Call::send, bytes);
  return fate.error != 0 ? fail(descriptor, fate.error) : next(descriptor, from, fate.bytes, flags);
}

ssize_t write(int descriptor, const void* from, size_t bytes) {
  static auto* const next = real<ssize_t(int, const void*, size_t)>("write");
  if (!concerned(descriptor)) return next(descriptor, from, bytes);
  const auto fate = fate_of(Call::send, bytes);
  return fate.error != 0 ? fail(descriptor, fate.error) : next(descriptor, from, fate.bytes);
}

ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  static auto* const next = real<ssize_t(int, const msghdr*, int)>("sendmsg");
  if (!concerned(descriptor)) return next(descriptor, message, flags);
  const auto fate = fate_of(Call::send, ringside::fault::size_of(*message));
  if (fate.error != 0) return fail(descriptor, fate.error);
  std::vector<iovec> parts;
  const msghdr shorter = ringside::fault::cut(*message, fate.bytes, parts);
  return next(descriptor, &shorter, flags);
}

int accept(int descriptor, sockaddr* address, socklen_t* size) {
  static auto* const next = real<int(int, sockaddr*, socklen_t*)>("accept");
  if (!concerned(descriptor)) return next(descriptor, address, size);
  const auto fate = fate_of(Call::accept, 0);
  return fate.error != 0 ? static_cast<int>(fail(descriptor, fate.error))
                         : next(descriptor, address, size);
}

int accept4(int descriptor, sockaddr* address, socklen_t* size, int flags) {
  static auto* const next = real<int(int, sockaddr*, socklen_t*, int)>("accept4");
  if (!concerned(descriptor)) return next(descriptor, address, size, flags);
  const auto fate = fate_of(Call::accept, 0);
  return fate.error != 0 ? static_cast<int>(fail(descriptor, fate.error))
                         : next(descriptor, address, size, flags);
}

int connect(int descriptor, const sockaddr* address, socklen_t size) {
  static auto* const next = real<int(int, const sockaddr*, socklen_t)>("connect");
  if (!concerned(descriptor)) return next(descriptor, address, size);
  const auto fate = fate_of(Call::connect, 0);
  return fate.error != 0 ? static_cast<int>(fail(descriptor, fate.error))
                         : next(descriptor, address, size);
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
