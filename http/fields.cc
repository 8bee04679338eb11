#include "http/fields.h"

#include <algorithm>
#include <array>

namespace ringside::http {
namespace {

constexpr FieldNames kHopByHop(
    std::to_array<std::string_view>({"te", "trailer", "upgrade", "connection", "keep-alive",
                                     "proxy-connection", "transfer-encoding", "proxy-authenticate",
                                     "proxy-authorization", "proxy-authentication-info"}));

constexpr FieldNames kForAllRecipients(std::to_array<std::string_view>(
    {"host", "vary", "authorization", "cache-control", "content-length"}));

constexpr std::string_view kInternalPrefix = "ringside-";

}  // namespace

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
  if (!may_have(field_name)) return;
  std::erase_if(lines_, [=](const Field& line) { return same_token(line.name, field_name); });
}

std::optional<std::string_view> Fields::find(std::string_view field_name) const noexcept {
  for (const Field& line : lines_) {
    if (same_token(line.name, field_name)) return line.value;
  }
  return std::nullopt;
}

std::optional<std::string> Fields::combined(std::string_view field_name) const {
  std::optional<std::string> joined;
  for_each(field_name, [&joined](std::string_view value) {
    if (joined) {
      joined->append(", ").append(value);
    } else {
      joined.emplace(value);
    }
  });
  return joined;
}

std::size_t Fields::count(std::string_view field_name) const noexcept {
  std::size_t lines = 0;
  for_each(field_name, [&lines](std::string_view) { ++lines; });
  return lines;
}

bool is_hop_by_hop(std::string_view field_name) noexcept { return kHopByHop.has(field_name); }

HopByHop::HopByHop(const Fields& message) {
  message.for_each("connection", [this](std::string_view line) {
    for_each_member(line, [this](std::string_view option) {
      const bool counts = !is_hop_by_hop(option) && !kForAllRecipients.has(option);
      if (counts) named_.push_back(option);
    });
  });
}

bool HopByHop::has(std::string_view field_name) const noexcept {
  return is_hop_by_hop(field_name) ||
         std::any_of(named_.begin(), named_.end(), [field_name](std::string_view option) {
           return same_token(option, field_name);
         });
}

bool is_internal(std::string_view field_name) noexcept {
  return field_name.size() >= kInternalPrefix.size() &&
         (field_name.front() | 0x20) == kInternalPrefix.front() &&  // most names are told by it
         same_token(field_name.substr(0, kInternalPrefix.size()), kInternalPrefix);
}

}  // namespace ringside::http
