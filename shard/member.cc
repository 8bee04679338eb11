#include "shard/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>

#include "base/limits.h"

namespace ringside::shard {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Cuts the leading run of digits off `text` and gives it without leading zeros.
std::string_view take_number(std::string_view& text) noexcept {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::size_t start = 0;
  while (start < end && text[start] == '0') ++start;
  const std::string_view number = text.substr(start, end - start);
  text.remove_prefix(end);
  return number;
}

bool is_visible_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

std::strong_ordering natural_order(std::string_view a, std::string_view b) noexcept {
  std::string_view x = a;
  std::string_view y = b;
  while (!x.empty() && !y.empty()) {
    if (is_digit(x.front()) && is_digit(y.front())) {
      const std::string_view left = take_number(x);
      const std::string_view right = take_number(y);
      // Without leading zeros the longer number is the greater one; no number is too long for this.
      if (const auto order = left.size() <=> right.size(); std::is_neq(order)) return order;
      if (const auto order = left <=> right; std::is_neq(order)) return order;
    } else {
      const auto left = static_cast<unsigned char>(x.front());
      const auto right = static_cast<unsigned char>(y.front());
      if (left != right) return left <=> right;
      x.remove_prefix(1);
      y.remove_prefix(1);
    }
  }
  if (x.empty() != y.empty()) {
    return x.empty() ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return a <=> b;
}

Result<void> check_member_name(std::string_view name) {
  if (name.empty()) return invalid_input("is empty; give the replica's stable name, as cache-0");
  if (name.size() > limits::member_name_size_bytes) {
    return invalid_input(fmt::format("has {} bytes; a name has at most {}", name.size(),
                                     limits::member_name_size_bytes));
  }
  if (!is_visible_ascii(name)) {
    return invalid_input("holds a space, a control or a non-ASCII byte; use letters, digits and -");
  }
  return {};
}

Result<void> check_member_weight(std::uint64_t weight) {
  if (weight <= limits::member_weight) return {};
  return invalid_input(fmt::format("is {}; give 0 to {}", weight, limits::member_weight));
}

Result<void> check_member_weights(std::size_t members, std::uint64_t together) {
  if (together > limits::topology_weight) {
    return invalid_input(fmt::format("add up to {}; at most {}, so divide them all by the same",
                                     together, limits::topology_weight));
  }
  if (members > 0 && together == 0) {
    return invalid_input("are all 0, so nobody owns anything; give one member at least 1");
  }
  return {};
}

Result<void> check_member_zone(std::string_view zone) {
  if (zone.size() > limits::member_zone_size_bytes) {
    return invalid_input(fmt::format("has {} bytes; a zone has at most {}", zone.size(),
                                     limits::member_zone_size_bytes));
  }
  if (!is_visible_ascii(zone)) {
    return invalid_input("holds a space, a control or a non-ASCII byte; use letters, digits and -");
  }
  return {};
}

}  // namespace ringside::shard
