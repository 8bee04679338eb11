#include "http/structured_field.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::http::structured {
namespace {

constexpr std::size_t kIntegerDigits = 15;         // RFC 9651 §4.2.4
constexpr std::size_t kDecimalIntegerDigits = 12;  // before the point
constexpr std::size_t kFractionDigits = 3;

constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_alpha(char c) noexcept { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool is_printable(char c) noexcept { return c >= 0x20 && c <= 0x7e; }

constexpr bool is_token_character(char c) noexcept {
  return is_in(c, kTokenClass) || c == ':' || c == '/';
}

constexpr bool begins_token(char c) noexcept { return c == '*' || is_alpha(c); }

constexpr bool is_key_character(char c) noexcept {
  return is_lower(c) || is_in(c, kDigitClass) || c == '_' || c == '-' || c == '.' || c == '*';
}

// Padding may be left out (RFC 9651 §4.2.7), not be half there.
bool is_base64(std::string_view text) noexcept {
  const std::size_t size = std::min(text.find('='), text.size());
  for (const char c : text.substr(0, size)) {
    if (!is_alpha(c) && !is_in(c, kDigitClass) && c != '+' && c != '/') return false;
  }
  const std::string_view padding = text.substr(size);
  if (padding.empty()) return size % 4 != 1;
  return text.size() % 4 == 0 && (padding == "=" || padding == "==");
}

// RFC 3629 §3 and §4: neither overlong nor surrogates nor beyond U+10FFFF.
bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    const std::size_t more = lead < 0xe0 ? 1U : lead < 0xf0 ? 2U : 3U;
    if (text.size() - at < more) return false;
    const auto second = static_cast<unsigned char>(text[at]);
    const unsigned least = lead == 0xe0 ? 0xa0U : lead == 0xf0 ? 0x90U : 0x80U;
    const unsigned most = lead == 0xed ? 0x9fU : lead == 0xf4 ? 0x8fU : 0xbfU;
    if (second < least || second > most) return false;
    for (std::size_t i = 1; i < more; ++i) {
      if ((static_cast<unsigned char>(text[at + i]) & 0xc0U) != 0x80U) return false;
    }
    at += more;
  }
  return true;
}

// Of equal keys the last value counts, in the first one's place (RFC 9651 §4.2.2).
template <class Keyed>
void put(std::vector<Keyed>& all, Keyed one) {
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&one](const Keyed& other) { return other.key == one.key; });
  if (same == all.end()) {
    all.push_back(std::move(one));
  } else {
    *same = std::move(one);
  }
}

// RFC 9651 §4.2, one function for each of its algorithms; each takes what it read from the front,
// and is false where that is not what it should be.
class Parser {
 public:
  explicit Parser(std::string_view text, std::size_t& allowance)
      : rest_(text), allowance_(allowance) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    while (rest_.ends_with(' ')) rest_.remove_suffix(1);
  }

  bool dictionary(Dictionary& out) {
    return members([&] {
      Member member;
      if (!key(member.key)) return false;
      if (take('=')) {
        if (!member_value(member.value)) return false;
      } else if (!parameters(std::get<Item>(member.value).parameters)) {
        return false;
      }
      put(out, std::move(member));
      return true;
    });
  }

  bool list(List& out) {
    return members([&] { return member_value(out.emplace_back()); });
  }

 private:
  template <class Take>
  bool members(Take&& take_member) {
    while (!rest_.empty()) {
      if (!allowed() || !take_member()) return false;
      skip(" \t");
      if (rest_.empty()) return true;
      if (!take(',')) return false;
      skip(" \t");
      if (rest_.empty()) return false;
    }
    return true;
  }

  bool take(char c) noexcept {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void skip(std::string_view characters) noexcept {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  }

  template <class Belongs>
  std::string_view take_while(Belongs&& belongs) noexcept {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), belongs);
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  bool allowed() noexcept {
    if (allowance_ == 0) return false;
    --allowance_;
    return true;
  }

  bool key(std::string_view& out) noexcept {
    if (rest_.empty() || (!is_lower(rest_.front()) && rest_.front() != '*')) return false;
    out = take_while(is_key_character);
    return true;
  }

  bool member_value(std::variant<Item, InnerList>& out) {
    if (!rest_.starts_with('(')) return item(std::get<Item>(out));
    return inner_list(out.emplace<InnerList>());
  }

  bool inner_list(InnerList& out) {
    rest_.remove_prefix(1);
    for (;;) {
      skip(" ");
      if (take(')')) return parameters(out.parameters);
      if (!allowed() || !item(out.items.emplace_back())) return false;
      if (!rest_.starts_with(' ') && !rest_.starts_with(')')) return false;
    }
  }

  bool item(Item& out) { return bare_item(out.value) && parameters(out.parameters); }

  bool parameters(std::vector<Parameter>& out) {
    while (take(';')) {
      skip(" ");
      Parameter parameter;
      if (!allowed() || !key(parameter.key)) return false;
      if (take('=') && !bare_item(parameter.value)) return false;
      put(out, parameter);
    }
    return true;
  }

  bool bare_item(BareItem& out) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    if (c == '-' || is_in(c, kDigitClass)) return number(out);
    if (begins_token(c)) return token(out);
    rest_.remove_prefix(1);
    switch (c) {
      case '"':
        return string(out);
      case ':':
        return byte_sequence(out);
      case '?':
        return boolean(out);
      case '@':
        return date(out);
      case '%':
        return display_string(out);
      default:
        return false;
    }
  }

  bool number(BareItem& out) noexcept {
    const bool negative = take('-');
    const auto is_digit = [](char c) { return is_in(c, kDigitClass); };
    const std::string_view digits = take_while(is_digit);
    if (digits.empty() || digits.size() > kIntegerDigits) return false;
    std::int64_t value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    const std::int64_t sign = negative ? -1 : 1;
    if (!take('.')) {
      out = sign * value;
      return true;
    }
    const std::string_view fraction = take_while(is_digit);
    if (digits.size() > kDecimalIntegerDigits) return false;
    if (fraction.empty() || fraction.size() > kFractionDigits) return false;
    for (std::size_t i = 0; i < kFractionDigits; ++i) {
      value = value * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
    }
    out = Decimal{sign * value};
    return true;
  }

  bool token(BareItem& out) noexcept {
    out = Token{take_while(is_token_character)};
    return true;
  }

  bool string(BareItem& out) noexcept {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        out = String{rest_.substr(0, i)};
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (!is_printable(rest_[i])) return false;
      if (rest_[i] != '\\') continue;
      ++i;
      if (i == rest_.size() || (rest_[i] != '"' && rest_[i] != '\\')) return false;
    }
    return false;
  }

  bool byte_sequence(BareItem& out) noexcept {
    const std::string_view base64 = take_while([](char c) { return c != ':'; });
    out = ByteSequence{base64};
    return take(':') && is_base64(base64);
  }

  bool boolean(BareItem& out) noexcept {
    const bool value = rest_.starts_with('1');
    out = value;
    return take(value ? '1' : '0');
  }

  bool date(BareItem& out) noexcept {
    if (!number(out) || !std::holds_alternative<Integer>(out)) return false;
    out = Date{std::get<Integer>(out)};
    return true;
  }

  bool display_string(BareItem& out) {
    if (!take('"')) return false;
    const std::string_view encoded = take_while([](char c) { return c != '"'; });
    out = DisplayString{encoded};
    if (!take('"')) return false;
    std::string decoded;
    for (std::size_t i = 0; i < encoded.size(); ++i) {
      if (!is_printable(encoded[i])) return false;
      if (encoded[i] != '%') {
        decoded.push_back(encoded[i]);
        continue;
      }
      if (encoded.size() - i < 3) return false;
      if (is_upper_hex(encoded[i + 1]) || is_upper_hex(encoded[i + 2])) return false;
      const int high = hex_value(encoded[i + 1]);
      const int low = hex_value(encoded[i + 2]);
      if (high < 0 || low < 0) return false;
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
    return is_utf8(decoded);
  }

  static constexpr bool is_upper_hex(char c) noexcept { return c >= 'A' && c <= 'F'; }

  std::string_view rest_;
  std::size_t& allowance_;
};

}  // namespace

std::optional<Dictionary> parse_dictionary(const Fields& fields, std::string_view field_name) {
  Dictionary out;
  std::size_t allowance = limits::structured_members;
  const bool has_several = fields.count(field_name) > 1;
  for (const Field& field : fields) {
    if (!same_token(field.name, field_name)) continue;
    // Joined, an empty line would leave a comma without a member.
    if (has_several && trimmed(field.value).empty()) return std::nullopt;
    if (!Parser(field.value, allowance).dictionary(out)) return std::nullopt;
  }
  return out;
}

std::optional<List> parse_list(std::string_view value) {
  List out;
  std::size_t allowance = limits::structured_members;
  if (!Parser(value, allowance).list(out)) return std::nullopt;
  return out;
}

std::string unescaped(String string) {
  std::string out;
  for (std::size_t i = 0; i < string.escaped.size(); ++i) {
    if (string.escaped[i] == '\\') ++i;
    out.push_back(string.escaped[i]);
  }
  return out;
}

const BareItem* parameter(const Item& item, std::string_view key) noexcept {
  for (const Parameter& one : item.parameters) {
    if (one.key == key) return &one.value;
  }
  return nullptr;
}

bool is_token(std::string_view text) noexcept {
  return !text.empty() && begins_token(text.front()) &&
         std::all_of(text.begin(), text.end(), is_token_character);
}

}  // namespace ringside::http::structured
