#include "http/fields.h"

#include <algorithm>
#include <array>
#include <span>

namespace ringside::http {
namespace {

constexpr std::array<char, 256> make_lower_table() {
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<char>(i >= 'A' && i <= 'Z' ? i - 'A' + 'a' : i);
  }
  return table;
}
constexpr std::array<char, 256> kLower = make_lower_table();

constexpr char lower(char c) noexcept { return kLower[static_cast<unsigned char>(c)]; }

bool same_letters(const char* a, const char* b, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

constexpr std::array<std::string_view, 10> kHopByHop{"te",
                                                     "trailer",
                                                     "upgrade",
                                                     "connection",
                                                     "keep-alive",
                                                     "proxy-connection",
                                                     "transfer-encoding",
                                                     "proxy-authenticate",
                                                     "proxy-authorization",
                                                     "proxy-authentication-info"};

constexpr std::array<std::string_view, 5> kForAllRecipients{"host", "vary", "authorization",
                                                            "cache-control", "content-length"};

bool is_one_of(std::string_view field_name, std::span<const std::string_view> names) noexcept {
  return std::any_of(names.begin(), names.end(), [field_name](std::string_view candidate) {
    return same_token(candidate, field_name);
  });
}

constexpr std::string_view kInternalPrefix = "ringside-";

}  // namespace

bool same_token(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && same_letters(a.data(), b.data(), a.size());
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t end_of_member(std::string_view list, std::size_t start, Quoted quoted) noexcept {
  bool inside = false;
  for (std::size_t i = start; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '"') {
      inside = !inside;
    } else if (c == '\\' && inside && quoted == Quoted::strings) {
      ++i;
    } else if (c == ',' && !inside) {
      return i;
    }
  }
  return list.size();
}

void Fields::remove(std::string_view field_name) {
  std::erase_if(lines_, [=](const Field& line) { return same_token(line.name, field_name); });
}

std::optional<std::string_view> Fields::first(std::string_view field_name) const noexcept {
  for (const Field& line : lines_) {
    if (same_token(line.name, field_name)) return line.value;
  }
  return std::nullopt;
}

std::optional<std::string> Fields::combined(std::string_view field_name) const {
  std::optional<std::string> joined;
  for (const Field& line : lines_) {
    if (!same_token(line.name, field_name)) continue;
    if (joined) {
      joined->append(", ").append(line.value);
    } else {
      joined.emplace(line.value);
    }
  }
  return joined;
}

std::size_t Fields::count(std::string_view field_name) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(lines_.begin(), lines_.end(),
                    [=](const Field& line) { return same_token(line.name, field_name); }));
}

bool Fields::has(std::string_view field_name) const noexcept {
  return first(field_name).has_value();
}

bool is_hop_by_hop(std::string_view field_name) noexcept {
  return is_one_of(field_name, kHopByHop);
}

HopByHop::HopByHop(const Fields& message) {
  for (const Field& field : message) {
    if (!same_token(field.name, "connection")) continue;
    for_each_member(field.value, [this](std::string_view option) {
      const bool counts = !is_hop_by_hop(option) && !is_one_of(option, kForAllRecipients);
      if (counts) named_.push_back(option);
    });
  }
}

bool HopByHop::has(std::string_view field_name) const noexcept {
  return is_hop_by_hop(field_name) ||
         std::any_of(named_.begin(), named_.end(), [field_name](std::string_view option) {
           return same_token(option, field_name);
         });
}

bool is_internal(std::string_view field_name) noexcept {
  return field_name.size() >= kInternalPrefix.size() &&
         same_token(field_name.substr(0, kInternalPrefix.size()), kInternalPrefix);
}

}  // namespace ringside::http
