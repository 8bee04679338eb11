#include "shard/shard_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/limits.h"
#include "shard/quotation.h"

namespace ringside::shard {
namespace {

using Kind = KeyPart::Kind;

constexpr std::string_view may_stand_here =
    "country, ip, path, query, host, header:NAME, cookie:NAME, id:N or id:{NAME}";

struct KindWord {
  std::string_view word;
  Kind kind;
  bool named;
};

constexpr std::array<KindWord, 8> kind_words{{
    {"country", Kind::country, false},
    {"ip", Kind::ip, false},
    {"path", Kind::path, false},
    {"query", Kind::query, false},
    {"host", Kind::host, false},
    {"header", Kind::header, true},
    {"cookie", Kind::cookie, true},
    {"id", Kind::id, true},
}};

// A token (RFC 9110 §5.6.2): what a field's and a cookie's name is made of.
bool is_token(std::string_view text) noexcept {
  static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  });
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t";
  const std::size_t start = text.find_first_not_of(blanks);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(blanks) - start + 1);
}

Error wrong_part(std::size_t number, std::string_view text, std::string_view why) {
  return invalid_input(fmt::format("part {}, {}, {}", number, quotation(text), why));
}

// `2`, or `{user}`: what is behind `id:`.
Result<KeyPart> parse_id(std::size_t number, std::string_view text, std::string_view which) {
  const bool is_placeholder = which.size() > 2 && which.front() == '{' && which.back() == '}' &&
                              std::all_of(which.begin() + 1, which.end() - 1, [](char c) {
                                return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                       (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
                              });
  if (is_placeholder) return KeyPart{Kind::id, std::string(which.substr(1, which.size() - 2))};
  std::size_t segment = 0;
  const auto [end, failure] = std::from_chars(which.data(), which.data() + which.size(), segment);
  if (failure == std::errc() && end == which.data() + which.size() && segment > 0 &&
      segment <= limits::shard_key_segment) {
    return KeyPart{Kind::id, {}, segment};
  }
  return wrong_part(
      number, text,
      fmt::format("names no segment of the path; write id:N, from 1 to {}, or id:{{NAME}} for "
                  "the {{NAME}} in the route's path",
                  limits::shard_key_segment));
}

// `number` counts from 1, for the message.
Result<KeyPart> parse_part(std::size_t number, std::string_view text) {
  if (text.empty()) {
    return wrong_part(number, text, fmt::format("is empty; write {}", may_stand_here));
  }
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  const auto known = std::find_if(kind_words.begin(), kind_words.end(),
                                  [&](const KindWord& entry) { return entry.word == word; });
  if (known == kind_words.end()) {
    return wrong_part(number, text, fmt::format("is not known; write {}", may_stand_here));
  }
  if (!known->named) {
    if (colon == std::string_view::npos) return KeyPart{known->kind, {}};
    return wrong_part(number, text, fmt::format("takes no name; write {}", word));
  }
  const std::string_view name = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (known->kind == Kind::id) return parse_id(number, text, name);
  if (!is_token(name)) {
    return wrong_part(number, text,
                      fmt::format("needs a name of letters, digits and !#$%&'*+-.^_`|~; write "
                                  "{}:NAME",
                                  word));
  }
  // Field names are case-insensitive (RFC 9110 §5.1), cookie names are not (RFC 6265 §4.1.1).
  return KeyPart{known->kind, known->kind == Kind::header ? lower_case(name) : std::string(name)};
}

}  // namespace

std::string KeyPart::text() const {
  const auto known = std::find_if(kind_words.begin(), kind_words.end(),
                                  [&](const KindWord& entry) { return entry.kind == kind; });
  if (kind == Kind::id) {
    return name.empty() ? fmt::format("id:{}", segment) : fmt::format("id:{{{}}}", name);
  }
  return known->named ? fmt::format("{}:{}", known->word, name) : std::string(known->word);
}

bool KeySpec::uses(Kind kind) const noexcept {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const KeyPart& part) { return part.kind == kind; });
}

std::string KeySpec::text() const {
  std::string out;
  for (const KeyPart& part : parts) {
    if (!out.empty()) out.push_back(',');
    out += part.text();
  }
  return out;
}

Result<KeySpec> KeySpec::parse(std::string_view text) {
  KeySpec spec;
  for (std::size_t number = 1;; ++number) {
    const std::size_t comma = text.find(',');
    const std::string_view written = trimmed(text.substr(0, comma));
    if (number > limits::shard_key_parts) {
      return wrong_part(number, written,
                        fmt::format("is one too many; at most {}", limits::shard_key_parts));
    }
    auto part = parse_part(number, written);
    if (!part) return part.error();
    if (std::find(spec.parts.begin(), spec.parts.end(), *part) != spec.parts.end()) {
      return wrong_part(number, written, "stands twice; leave one of them out");
    }
    spec.parts.push_back(*std::move(part));
    if (comma == std::string_view::npos) return spec;
    text.remove_prefix(comma + 1);
  }
}

KeySpec KeySpec::country_and_path() {
  return {{KeyPart{Kind::country, {}}, KeyPart{Kind::path, {}}}};
}

void append_key_value(std::string& key, std::string_view value) {
  constexpr std::string_view special = "\\\n";
  for (;;) {
    const std::size_t plain = std::min(value.find_first_of(special), value.size());
    key += value.substr(0, plain);
    if (plain == value.size()) break;
    key.push_back('\\');
    key.push_back(value[plain]);
    value.remove_prefix(plain + 1);
  }
  key.push_back('\n');
}

}  // namespace ringside::shard
