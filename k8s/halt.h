#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <utility>

namespace ringside::k8s {

// A descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// Wakes who polls its descriptor, until it is still. Thread-safe.
class Bell {
 public:
  Bell();
  void ring() const noexcept;
  void still() const noexcept;
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  Descriptor event_;
};

// Ends, once and for good, whatever waits on sockets in other threads. Thread-safe.
class Halt {
 public:
  Halt();

  void order() noexcept;
  // Ends what is held at this moment, and nothing that begins later.
  void cut() noexcept;
  [[nodiscard]] bool ordered() const noexcept { return ordered_.load(); }
  // Readable once it is ordered: for those who poll.
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

  // Shuts a connected socket down when the halt is ordered, or was: for those who wait in a library
  // and can't poll. It works by a duplicate, for the socket may be closed, and its number
  // another's, while the halt is ordered.
  class Hold {
   public:
    Hold(Halt& halt, int socket);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Halt& halt_;
    std::list<Descriptor>::iterator held_;
  };

 private:
  std::atomic<bool> ordered_{false};
  Descriptor event_;
  std::mutex mutex_;  // of the list
  std::list<Descriptor> held_;
};

}  // namespace ringside::k8s
