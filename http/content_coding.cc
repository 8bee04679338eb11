#include "http/content_coding.h"

#include <algorithm>

namespace ringside::http {
namespace {

std::string_view usual_name(std::string_view coding) noexcept {
  if (same_token(coding, "x-gzip")) return "gzip";
  if (same_token(coding, "x-compress")) return "compress";
  return coding;
}

// A weight above 0 (RFC 9110 §12.4.2): "0." or "1." and at most three digits, after 1 only zeros.
bool is_above_zero(std::string_view weight) noexcept {
  constexpr std::size_t longest = 5;
  if (weight.empty() || weight.size() > longest) return false;
  if (weight.size() > 1 && weight[1] != '.') return false;
  const std::string_view digits = weight.substr(std::min<std::size_t>(2, weight.size()));
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  const bool zeros = digits.find_first_not_of('0') == std::string_view::npos;
  return weight.front() == '1' ? zeros : weight.front() == '0' && !zeros;
}

// What follows a coding's semicolon.
bool accepts(std::string_view weight) noexcept {
  weight = trimmed(weight);
  return same_token(weight.substr(0, 2), "q=") && is_above_zero(weight.substr(2));
}

// Whether Accept-Encoding accepts a coding: nullopt where it is not named.
std::optional<bool> said_of(std::string_view accept_encoding, std::string_view coding) {
  std::optional<bool> accepted;
  for_each_member(accept_encoding, [&](std::string_view member) {
    const std::size_t semicolon = std::min(member.find(';'), member.size());
    const std::string_view name = usual_name(trimmed(member.substr(0, semicolon)));
    if (!same_token(name, coding)) return true;
    accepted = semicolon == member.size() || accepts(member.substr(semicolon + 1));
    return false;
  });
  return accepted;
}

}  // namespace

std::optional<std::string_view> content_coding_class(const Fields& request,
                                                     const std::vector<std::string>& classes) {
  const auto accept_encoding = request.combined("accept-encoding");
  if (!accept_encoding) return std::nullopt;
  const auto others = said_of(*accept_encoding, "*");
  for (const std::string& coding : classes) {
    // Without a word of it, what is not encoded is acceptable, and other codings are not.
    const bool unsaid = others.value_or(same_token(coding, "identity"));
    if (said_of(*accept_encoding, usual_name(coding)).value_or(unsaid)) return coding;
  }
  return std::nullopt;
}

}  // namespace ringside::http
