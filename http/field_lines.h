#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/fields.h"

namespace ringside::http {

// Field lines that own their bytes: what we say in a message. They lie as HTTP/1.1 has them on the
// wire, so that it sends them without writing them anew.
class FieldLines {
 public:
  void add(std::string_view name, std::string_view value) {
    text_.append(name).append(": ").append(value).append("\r\n");
  }
  // `name: before, value`; without `before`, or where it is empty, just the value.
  void add_joined(std::string_view name, const std::optional<std::string>& before,
                  std::string_view value);
  // A line whose value `write(std::string&)` appends.
  template <class Write>
  void add_written(std::string_view name, const Write& write) {
    text_.append(name).append(": ");
    write(text_);
    text_.append("\r\n");
  }
  // Whole lines of others.
  void append(std::string_view lines) { text_.append(lines); }

  void clear() noexcept { text_.clear(); }
  // What was there when text().size() was so many.
  void cut(std::size_t size_bytes) { text_.resize(size_bytes); }
  void shrink_to_fit() { text_.shrink_to_fit(); }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return text_.capacity(); }

 private:
  std::string text_;
};

// The lines one by one: views into `lines`, which FieldLines made.
[[nodiscard]] Fields fields_of(std::string_view lines);

// The field Date.
void add_date(FieldLines& out, TimePoint now);
// The same where `fields` has none: whoever forwards a response that lacks it adds it (RFC 9110
// §6.6.1).
void add_date_if_absent(FieldLines& out, const Fields& fields, TimePoint now);

}  // namespace ringside::http
