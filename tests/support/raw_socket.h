#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/address.h"

namespace ringside::support {

// How long a test waits for what must come. It is never waited out where all is well.
inline constexpr std::chrono::milliseconds patience{20'000};

// A descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Something that happens once and that any number of threads may wait for.
class Gate {
 public:
  Gate();
  void open() noexcept;
  // False: it stayed closed.
  [[nodiscard]] bool wait(std::chrono::milliseconds timeout = patience) const;
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  Descriptor event_;
};

// A plain blocking TCP socket that knows nothing of HTTP.
class RawSocket {
 public:
  enum class End { closed, reset, timeout, stopped };  // why nothing more was received

  RawSocket() = default;
  explicit RawSocket(Descriptor socket, const Gate* stop = nullptr) noexcept;
  // Fails the test where nothing listens. `receive_buffer_bytes`: 0 leaves the system's.
  [[nodiscard]] static RawSocket connect(const Endpoint& to, int receive_buffer_bytes = 0);

  // False: the other side is gone, or does not take it in time.
  bool send(std::string_view bytes);
  // Appends what comes next, at most `most` bytes; nullopt where something came.
  std::optional<End> receive(std::string& into, std::size_t most = 65'536,
                             std::chrono::milliseconds timeout = patience);
  // Something came, be it the end.
  [[nodiscard]] bool readable(std::chrono::milliseconds timeout);
  // The bare descriptor, whose owner is then the caller.
  [[nodiscard]] int release() noexcept { return socket_.release(); }
  void shutdown_send() noexcept;
  void close() noexcept;
  // The other side sees a reset rather than an end.
  void reset() noexcept;

 private:
  Descriptor socket_;
  const Gate* stop_ = nullptr;
};

// Listens on a free port of 127.0.0.1.
class RawListener {
 public:
  RawListener();
  [[nodiscard]] const Endpoint& address() const noexcept { return address_; }
  // nullopt: `stop` was opened.
  [[nodiscard]] std::optional<RawSocket> accept(const Gate* stop = nullptr);
  void close() noexcept { socket_ = Descriptor(); }

 private:
  Descriptor socket_;
  Endpoint address_;
};

// A port of 127.0.0.1 on which nobody listens until the process ends.
[[nodiscard]] Endpoint refusing_address();

}  // namespace ringside::support
