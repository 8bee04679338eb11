#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/task.h"

namespace ringside::http {

// What a body has given: bytes that stay where they are until it is asked for more.
struct Pulled {
  std::span<const std::string_view> pieces;
  bool last = false;  // nothing follows
};

// Where the bytes of a body come from, piece by piece: what nobody pulls is not fetched. After an
// Error, and after the last piece, it is not asked again. On one core's thread.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // What is there already; nullopt: pull() would wait for it.
  [[nodiscard]] virtual std::optional<Result<Pulled>> take() = 0;
  // The next bytes. The Error's source tells who is to blame that there are none.
  [[nodiscard]] virtual Task<Result<Pulled>> pull() = 0;
  // Memory that it alone keeps from being freed, as far as anybody counts it.
  [[nodiscard]] virtual std::size_t pinned_bytes() const { return 0; }
};

// The content of a message that we send. A value: no content at all, bytes that were made for this
// message, bytes that lie elsewhere and are shared, or whatever a source brings.
class Body {
 public:
  Body() = default;
  explicit Body(std::string bytes) noexcept : made_(std::move(bytes)) {}
  // `owner` keeps the bytes, which never change.
  Body(std::shared_ptr<const void> owner, std::string_view bytes) noexcept
      : owner_(std::move(owner)), shared_(bytes) {}
  Body(std::shared_ptr<const void> owner, std::vector<std::string_view> pieces) noexcept
      : owner_(std::move(owner)), pieces_(std::move(pieces)) {}
  explicit Body(std::unique_ptr<BodySource> source) noexcept : source_(std::move(source)) {}

  // The same as of a source. What is no source's comes in one go.
  [[nodiscard]] std::optional<Result<Pulled>> take();
  [[nodiscard]] Task<Result<Pulled>> pull();
  // Who keeps the bytes, where they are shared; null: they are the body's own.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return owner_; }
  // Whether it may be long in coming.
  [[nodiscard]] bool has_source() const noexcept { return source_ != nullptr; }
  [[nodiscard]] std::size_t pinned_bytes() const { return source_ ? source_->pinned_bytes() : 0; }

 private:
  std::string made_;
  std::shared_ptr<const void> owner_;
  std::string_view shared_;
  std::vector<std::string_view> pieces_;
  std::unique_ptr<BodySource> source_;
};

}  // namespace ringside::http
