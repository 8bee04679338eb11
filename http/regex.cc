#include "http/regex.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/limits.h"
#include "base/quotation.h"

namespace ringside::http {
namespace {

re2::StringPiece piece(std::string_view text) noexcept { return {text.data(), text.size()}; }

// RE2's words end with the part of the text that it does not take, as it is.
std::string reason(const re2::RE2& program) {
  std::string_view words = program.error();
  const std::string& part = program.error_arg();
  if (part.empty() || !words.ends_with(part)) return std::string(words);
  words.remove_suffix(part.size());
  return std::string(words) + quotation(part);
}

}  // namespace

Result<Regex> Regex::make(std::string_view text) {
  if (text.size() > limits::regex_size_bytes) {
    return invalid_input(fmt::format("a regular expression of {} bytes; write at most {}",
                                     text.size(), limits::regex_size_bytes));
  }
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_max_mem(limits::regex_memory_bytes);
  options.set_log_errors(false);
  auto program = std::make_shared<const re2::RE2>(piece(text), options);
  if (program->ok()) return Regex(std::move(program));
  const bool is_too_large = program->error_code() == re2::RE2::ErrorPatternTooLarge ||
                            program->error_code() == re2::RE2::ErrorRepeatSize;
  return invalid_input(fmt::format(
      "{} is no regular expression that can be used: {}; {}", quotation(text), reason(*program),
      is_too_large ? "write it with smaller repetitions" : "write it in RE2's syntax"));
}

bool Regex::matches(std::string_view text) const {
  return re2::RE2::FullMatchN(piece(text), *program_, nullptr, 0);
}

const std::string& Regex::text() const noexcept { return program_->pattern(); }

}  // namespace ringside::http
