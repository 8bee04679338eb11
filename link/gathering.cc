#include "link/gathering.h"

#include <utility>

namespace ringside::link {
namespace {

// Who waits is woken by what it waits for, and then looks again.
constexpr std::chrono::hours a_while{1};

}  // namespace

// What was pulled until then, what the pull brings that still goes on, and what follows.
class Gathering::Rest final : public http::BodySource {
 public:
  explicit Rest(std::shared_ptr<Gathering> of) noexcept
      : of_(std::move(of)),
        before_(std::exchange(of_->text_, {})),
        before_is_all_(of_->is_whole_) {}

  [[nodiscard]] std::optional<Result<http::Pulled>> take() override {
    if (!before_is_given_) {
      before_is_given_ = true;
      if (!before_.empty() || before_is_all_) return given(before_, before_is_all_);
    }
    if (of_->is_pulling()) return std::nullopt;
    if (!of_->text_.empty() || of_->is_whole_) {
      last_ = std::exchange(of_->text_, {});
      return given(last_, of_->is_whole_);
    }
    if (of_->failure_) return *of_->failure_;
    return of_->body_.take();
  }
  [[nodiscard]] Task<Result<http::Pulled>> pull() override {
    if (auto there = take()) co_return *std::move(there);
    while (of_->is_pulling() && !of_->core_.stopped()) {
      static_cast<void>(co_await of_->pulled_.wait(of_->core_.steady_now() + a_while));
    }
    if (of_->is_pulling()) {
      co_return Error{ErrorKind::disconnected, ErrorSource::ourselves, Retry::no, "stopping"};
    }
    if (auto there = take()) co_return *std::move(there);
    co_return co_await of_->body_.pull();
  }
  [[nodiscard]] std::size_t pinned_bytes() const override { return of_->body_.pinned_bytes(); }

 private:
  [[nodiscard]] Result<http::Pulled> given(const std::string& text, bool last) {
    piece_ = text;
    return http::Pulled{{&piece_, piece_.empty() ? 0U : 1U}, last};
  }

  const std::shared_ptr<Gathering> of_;
  const std::string before_;
  const bool before_is_all_;
  std::string last_;  // of the gathering
  std::string_view piece_;
  bool before_is_given_ = false;
};

Gathering::Gathering(net::Core& core, http::Body body, std::shared_ptr<void> owner)
    : core_(core), body_(std::move(body)), owner_(std::move(owner)), pulled_(core) {}

void Gathering::take(const Result<http::Pulled>& pulled) {
  if (!pulled) {
    failure_ = pulled.error();
    return;
  }
  for (const std::string_view piece : pulled->pieces) text_ += piece;
  is_whole_ = pulled->last;
}

Task<void> Gathering::pull(std::shared_ptr<Gathering> self, std::size_t most_bytes) {
  while (!self->is_whole_ && !self->failure_ && !self->is_late_ &&
         self->text_.size() <= most_bytes) {
    self->take(co_await self->body_.pull());
  }
  // Held to the end: the body may need its owner, which may be the last that holds `self`.
  const std::shared_ptr<void> owner = std::exchange(self->owner_, nullptr);
  self->pulled_.bell()->wake();
  if (self.use_count() == 1) self->body_ = {};
}

Task<Result<bool>> Gathering::run(std::size_t most_bytes, SteadyPoint until) {
  begin_detached(pull(shared_from_this(), most_bytes));
  if (is_pulling()) static_cast<void>(co_await pulled_.wait(until));
  is_late_ = is_pulling();
  if (!is_late_ && failure_ && text_.empty()) co_return *failure_;
  co_return !is_late_ && is_whole_ && text_.size() <= most_bytes;
}

http::Body Gathering::rest() { return http::Body(std::make_unique<Rest>(shared_from_this())); }

}  // namespace ringside::link
