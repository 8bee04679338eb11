#include "shard/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>

#include "base/limits.h"

namespace ringside::shard {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Compares the numbers that both begin with, and cuts them off. Without leading zeros the longer
// number is the greater one, and of equally long ones the first digit that differs decides; no
// number is too long for this.
std::strong_ordering take_numbers(std::string_view& a, std::string_view& b) noexcept {
  const auto skip_zeros = [](std::string_view& text) {
    while (!text.empty() && text.front() == '0') text.remove_prefix(1);
  };
  skip_zeros(a);
  skip_zeros(b);
  auto order = std::strong_ordering::equal;
  std::size_t digits = 0;
  const auto has_more = [&](std::string_view text) {
    return digits < text.size() && is_digit(text[digits]);
  };
  for (; has_more(a) && has_more(b); ++digits) {
    if (std::is_eq(order)) order = a[digits] <=> b[digits];
  }
  if (has_more(a)) return std::strong_ordering::greater;
  if (has_more(b)) return std::strong_ordering::less;
  a.remove_prefix(digits);
  b.remove_prefix(digits);
  return order;
}

// How many bytes both begin with.
std::size_t common_size(std::string_view a, std::string_view b) noexcept {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t same = 0;
  // Eight at once: a look-up among ordered shards compares a key some eight times.
  for (std::uint64_t x = 0, y = 0; same + sizeof(x) <= size; same += sizeof(x)) {
    std::memcpy(&x, a.data() + same, sizeof(x));
    std::memcpy(&y, b.data() + same, sizeof(y));
    if (x != y) break;
  }
  while (same < size && a[same] == b[same]) ++same;
  return same;
}

bool is_visible_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

std::strong_ordering natural_order(std::string_view a, std::string_view b) noexcept {
  // What both begin with says nothing, but for the digits of a number in which they differ.
  std::size_t same = common_size(a, b);
  while (same > 0 && is_digit(a[same - 1])) --same;
  std::string_view x = a.substr(same);
  std::string_view y = b.substr(same);
  while (!x.empty() && !y.empty()) {
    if (is_digit(x.front()) && is_digit(y.front())) {
      if (const auto order = take_numbers(x, y); std::is_neq(order)) return order;
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
