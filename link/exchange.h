#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept_memory.h"
#include "hop/upstream.h"
#include "link/frame.h"
#include "link/link.h"
#include "link/links.h"
#include "net/deadlines.h"

namespace ringside::link {

// One request to a member and its response: on a link if there is one with room for it, else over
// HTTP/1.1.
class Exchange final : public hop::Exchange, private Asked, private net::Deadline {
 public:
  explicit Exchange(Links& links);
  ~Exchange() override;
  // NOLINTNEXTLINE(misc-new-delete-overloads): it does not know deletes that are told the size
  static void* operator new(std::size_t size_bytes) { return allocate_kept(size_bytes); }
  static void operator delete(void* exchange, std::size_t size_bytes) noexcept {
    free_kept(exchange, size_bytes);
  }

  [[nodiscard]] Task<Result<void>> ask(const UpstreamAddress& address,
                                       const hop::UpstreamRequest& request,
                                       const hop::UpstreamLimits& limits) override;
  void give_up() noexcept override;
  [[nodiscard]] const http::ResponseHead& head() const noexcept override {
    return plain_ ? plain_->head() : space_->answer.head;
  }
  [[nodiscard]] http::ByteStream& stream() noexcept override { return plain_->stream(); }
  [[nodiscard]] std::optional<Result<http::Pulled>> take() override;
  [[nodiscard]] Task<Result<http::Pulled>> pull() override;

 private:
  void deliver(const Frame& frame) override;
  void fail(const Error& error) override;
  [[nodiscard]] bool is_over() const noexcept override { return is_over_ || given_up_; }
  void expire() noexcept override;
  void go_on();
  void hold_bytes(std::size_t bytes) noexcept;

  void begin(std::shared_ptr<Link> link, const hop::UpstreamRequest& request,
             const hop::UpstreamLimits& limits);
  Task<Result<void>> pass_interim_on(const hop::UpstreamRequest& request);
  [[nodiscard]] bool is_stale() const noexcept;
  [[nodiscard]] bool may_repeat(const hop::UpstreamRequest& request) const noexcept;
  [[nodiscard]] Error failure(const hop::UpstreamRequest& request) const;

  Links& links_;
  std::unique_ptr<hop::Exchange> plain_;  // over HTTP/1.1; null: on a link
  std::shared_ptr<Link> link_;            // while an answer is waited for
  Stream stream_ = 0;
  std::unique_ptr<AnswerSpace> space_;
  std::coroutine_handle<> waiting_;
  std::vector<std::string> interims_;  // to be passed on
  std::size_t interim_count_ = 0;
  std::optional<Error> failure_;
  std::optional<std::uint64_t> ticket_;
  std::string fields_;               // of the request with its ticket
  std::uint64_t frames_before_ = 0;  // of the link
  std::size_t held_bytes_ = 0;       // that count in the core's buffers
  std::string_view method_;
  bool reads_fields_ = false;  // see hop::UpstreamRequest
  bool answered_ = false;
  bool was_answered_ = false;  // though that may have been no answer
  bool interim_given_up_ = false;
  bool is_over_ = false;
  bool given_up_ = false;
};

}  // namespace ringside::link
