#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace ringside::http {

// A regular expression in the syntax of RE2, which takes time in proportion to the text, whatever
// the expression is: what clients send may be matched. Immutable; any thread.
class Regex {
 public:
  // An Error tells what is wrong with it; beyond limits::regex_size_bytes, or where it needs more
  // than limits::regex_memory_bytes, too.
  [[nodiscard]] static Result<Regex> make(std::string_view text);

  // All of `text`, of which each byte is a character.
  [[nodiscard]] bool matches(std::string_view text) const;
  // As it was written.
  [[nodiscard]] const std::string& text() const noexcept;
  friend bool operator==(const Regex& a, const Regex& b) noexcept { return a.text() == b.text(); }

 private:
  explicit Regex(std::shared_ptr<const re2::RE2> program) noexcept : program_(std::move(program)) {}
  std::shared_ptr<const re2::RE2> program_;
};

}  // namespace ringside::http
