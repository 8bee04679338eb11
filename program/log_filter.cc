#include "program/log_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/quotation.h"
#include "metrics/outcome.h"
#include "program/values.h"

namespace ringside::program {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digits(std::string_view text) { return std::all_of(text.begin(), text.end(), is_digit); }

Result<void> read_country(std::string_view text, hop::LogFilter& out) {
  if (text.size() != 2 || !is_letter(text[0]) || !is_letter(text[1])) {
    return invalid_input(fmt::format(
        "country: {} is no code of a country; write two letters, such as FR", quotation(text)));
  }
  for (const char c : text) out.country += static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
  return {};
}

Result<void> read_result(std::string_view text, hop::LogFilter& out) {
  if (metrics::outcome_from(text)) {
    out.result = text;
    return {};
  }
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < metrics::outcome_count; ++i) {
    names.push_back(metrics::name(static_cast<metrics::Outcome>(i)));
  }
  return invalid_input(
      fmt::format("result: {} is none; there are {}", quotation(text), fmt::join(names, ", ")));
}

Result<void> read_status(std::string_view text, hop::LogFilter& out) {
  constexpr int class_size = 100;
  if (text.size() == 3 && text.substr(1) == "xx" && text[0] >= '1' && text[0] <= '5') {
    out.status_first = (text[0] - '0') * class_size;
    out.status_last = out.status_first + class_size - 1;
    return {};
  }
  if (text == "0" || (text.size() == 3 && is_digits(text) && text[0] != '0')) {
    out.status_first = out.status_last = std::stoi(std::string(text));
    return {};
  }
  return invalid_input(fmt::format(
      "status: {} is none; write one such as 404, a class such as 5xx, or 0 for no answer",
      quotation(text)));
}

}  // namespace

Result<hop::LogFilter> parse_log_filter(const LogFilterTexts& texts) {
  hop::LogFilter filter;
  Result<void> read;
  if (!texts.country.empty()) read = read_country(texts.country, filter);
  if (read && !texts.result.empty()) read = read_result(texts.result, filter);
  if (read && !texts.status.empty()) read = read_status(texts.status, filter);
  if (!read) return read.error();
  if (!texts.replica.empty()) {
    const auto name = parse_member_name(texts.replica);
    if (!name) return invalid_input("replica: " + name.error().message);
    filter.replica = *name;
  }
  if (!texts.slower_than.empty()) {
    const auto duration = parse_duration(texts.slower_than);
    if (!duration) return invalid_input("slower_than: " + duration.error().message);
    filter.slower_than = *duration;
  }
  return filter;
}

}  // namespace ringside::program
