#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"
#include "http/body.h"
#include "net/core.h"
#include "net/waiter.h"

namespace ringside::link {

// Waits a little for a body that is small and still coming, so that it can go out whole. Where it
// takes too long, what was pulled and the rest are a body again, for who takes it later.
//
//   1. run() pulls until the end, the limit, an Error, or the time.
//   2. Where the time comes first, a pull goes on: rest() is then a body that waits for it.
class Gathering : public std::enable_shared_from_this<Gathering> {
 public:
  // `owner` keeps what the body refers to.
  Gathering(net::Core& core, http::Body body, std::shared_ptr<void> owner);

  // True: take_text() gives all of it. False: rest() is to be sent by who can wait. An Error: what
  // failed before anything of it was sent.
  Task<Result<bool>> run(std::size_t most_bytes, SteadyPoint until);
  [[nodiscard]] std::string take_text() noexcept { return std::move(text_); }
  [[nodiscard]] http::Body rest();

 private:
  class Rest;
  static Task<void> pull(std::shared_ptr<Gathering> self, std::size_t most_bytes);
  [[nodiscard]] bool is_pulling() const noexcept { return owner_ != nullptr; }
  void take(const Result<http::Pulled>& pulled);

  net::Core& core_;
  http::Body body_;
  std::shared_ptr<void> owner_;  // while a pull goes on
  net::Waiter pulled_;
  std::string text_;
  std::optional<Error> failure_;
  bool is_whole_ = false;
  bool is_late_ = false;
};

}  // namespace ringside::link
