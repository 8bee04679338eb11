#include "replay/structured_list.h"

#include <algorithm>
#include <cstddef>

#include "http/characters.h"

namespace ringside::replay {
namespace {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_alpha(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Each method takes its part from the left, or fails and leaves the rest undefined.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  void skip(std::string_view set) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(set), rest_.size()));
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool member(ListMember& out) {
    if (!bare_item(out.item)) return false;
    while (take(';')) {
      skip(" ");
      std::string key_text;
      std::string value = "?1";
      if (!key(key_text)) return false;
      if (take('=') && !bare_item(value)) return false;
      std::erase_if(out.parameters, [&](const auto& known) { return known.key == key_text; });
      out.parameters.push_back({std::move(key_text), std::move(value)});
    }
    return true;
  }

 private:
  template <class Allowed>
  std::string_view take_while(Allowed allowed) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), allowed);
    const std::string_view taken(rest_.data(), static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  bool bare_item(std::string& out) {
    if (rest_.empty()) return false;
    const char first = rest_.front();
    if (first == '"') return string(out);
    if (first == '?') return boolean(out);
    if (first == ':') return bytes(out);
    if (first == '-' || is_digit(first)) return number(out);
    if (is_alpha(first) || first == '*') {
      out = take_while(
          [](char c) { return http::is_in(c, http::kTokenClass) || c == ':' || c == '/'; });
      return true;
    }
    return false;
  }

  bool key(std::string& out) {
    if (rest_.empty() || !(is_lower(rest_.front()) || rest_.front() == '*')) return false;
    out = take_while([](char c) {
      return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
    });
    return true;
  }

  bool string(std::string& out) {
    rest_.remove_prefix(1);
    out.clear();
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c < 0x20 || c >= 0x7f) return false;
      if (c == '\\') {
        if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\\')) return false;
        c = rest_.front();
        rest_.remove_prefix(1);
      }
      out += c;
    }
    return false;
  }

  bool boolean(std::string& out) {
    out = rest_.substr(0, 2);
    if (out != "?0" && out != "?1") return false;
    rest_.remove_prefix(2);
    return true;
  }

  bool bytes(std::string& out) {
    rest_.remove_prefix(1);
    out = take_while(
        [](char c) { return is_alpha(c) || is_digit(c) || c == '+' || c == '/' || c == '='; });
    return take(':');
  }

  // Up to 15 digits, or up to 12 and a fraction of up to three.
  bool number(std::string& out) {
    out = take('-') ? "-" : "";
    const std::string_view whole = take_while(is_digit);
    if (whole.empty() || whole.size() > 15) return false;
    out += whole;
    if (!take('.')) return true;
    const std::string_view fraction = take_while(is_digit);
    if (whole.size() > 12 || fraction.empty() || fraction.size() > 3) return false;
    out += '.';
    out += fraction;
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string_view> ListMember::parameter(std::string_view key) const noexcept {
  for (const Parameter& one : parameters) {
    if (one.key == key) return one.value;
  }
  return std::nullopt;
}

bool ListMember::is_set(std::string_view key) const noexcept { return parameter(key) == "?1"; }

std::optional<std::vector<ListMember>> parse_structured_list(std::string_view field) {
  constexpr std::string_view white_space = " \t";
  std::vector<ListMember> members;
  Parser parser(field);
  parser.skip(" ");
  while (!parser.done()) {
    if (!parser.member(members.emplace_back())) return std::nullopt;
    parser.skip(white_space);
    if (parser.done()) return members;
    if (!parser.take(',')) return std::nullopt;
    parser.skip(white_space);
    if (parser.done()) return std::nullopt;  // a comma with nothing after it
  }
  return members;
}

}  // namespace ringside::replay
