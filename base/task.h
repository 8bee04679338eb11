#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/kept_memory.h"
#include "base/terminate.h"

namespace ringside {

// A coroutine that begins when it is awaited, once, and then hands its result to who awaits it.
// Everything that waits in Ringside is one; what it waits for is told by net/ (or by a test). A
// task and all that it awaits live and die on one core's thread.
//
// Who destroys a task that waits destroys its frame, and with it whatever it awaits: the objects
// that it waits with take themselves out of their lists when they are destroyed.
template <class T = void>
class Task;

namespace detail {

// What the promises of all tasks have in common.
//
// A child that ends without having waited resumes nobody: it returns to who began it, who goes on.
// So a loop over such children needs no more stack than one of them.
class TaskPromise {
 public:
  // NOLINTNEXTLINE(misc-new-delete-overloads): it does not know deletes that are told the size
  static void* operator new(std::size_t size_bytes) { return allocate_kept(size_bytes); }
  static void operator delete(void* frame, std::size_t size_bytes) noexcept {
    free_kept(frame, size_bytes);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  struct Final {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      TaskPromise& promise = self.promise();
      promise.ended_ = true;
      if (promise.beginning_) return std::noop_coroutine();
      return promise.awaiting_;
    }
    void await_resume() const noexcept {}
  };
  Final final_suspend() const noexcept { return {}; }

  // False: it has ended already, and who awaits goes on at once.
  bool begin(std::coroutine_handle<> self, std::coroutine_handle<> awaiting) {
    awaiting_ = awaiting;
    beginning_ = true;
    self.resume();
    beginning_ = false;
    return !ended_;
  }

 private:
  std::coroutine_handle<> awaiting_;
  bool beginning_ = false;
  bool ended_ = false;
};

template <class T>
class ValuePromise : public TaskPromise {
 public:
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }
  T take() {
    if (thrown_) std::rethrow_exception(thrown_);
    return *std::move(value_);
  }

 private:
  std::optional<T> value_;
  std::exception_ptr thrown_;
};

template <>
class ValuePromise<void> : public TaskPromise {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }
  void take() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::exception_ptr thrown_;
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::ValuePromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle frame) noexcept : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  // Of a temporary: a task is awaited once.
  auto operator co_await() && noexcept {
    struct Awaiting {
      Handle frame;
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> awaiting) {
        return frame.promise().begin(frame, awaiting);
      }
      T await_resume() { return frame.promise().take(); }
    };
    RINGSIDE_CHECK(frame_);
    return Awaiting{frame_};
  }

 private:
  Handle frame_;
};

namespace detail {

template <class T>
Task<T> ValuePromise<T>::get_return_object() noexcept {
  return Task<T>(Task<T>::Handle::from_promise(*this));
}
inline Task<void> ValuePromise<void>::get_return_object() noexcept {
  return Task<void>(Task<void>::Handle::from_promise(*this));
}

// A coroutine that owns itself.
struct Detached {
  struct promise_type {
    // NOLINTNEXTLINE(misc-new-delete-overloads): it does not know deletes that are told the size
    static void* operator new(std::size_t size_bytes) { return allocate_kept(size_bytes); }
    static void operator delete(void* frame, std::size_t size_bytes) noexcept {
      free_kept(frame, size_bytes);
    }
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { crash_by(std::current_exception()); }
  };
};

inline Detached run_detached(Task<void> task) { co_await std::move(task); }

}  // namespace detail

// Begins a task that nobody waits for, here and now. An exception that leaves it ends the process
// with its thread's name: a part of us must not be gone unnoticed.
inline void begin_detached(Task<void> task) { detail::run_detached(std::move(task)); }

}  // namespace ringside
