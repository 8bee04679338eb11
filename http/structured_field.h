#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/fields.h"

// Structured fields (RFC 9651): a syntax that many newer fields share. Views into the fields'
// bytes.
namespace ringside::http::structured {

struct Decimal {  // §3.3.2
  std::int64_t thousandths = 0;
  bool operator==(const Decimal&) const = default;
};

struct String {              // §3.3.3
  std::string_view escaped;  // what stands between the quotes, backslashes included
  bool operator==(const String&) const = default;
};

struct Token {  // §3.3.4
  std::string_view text;
  bool operator==(const Token&) const = default;
};

struct ByteSequence {  // §3.3.5
  std::string_view base64;
  bool operator==(const ByteSequence&) const = default;
};

struct Date {  // §3.3.7
  std::int64_t unix_seconds = 0;
  bool operator==(const Date&) const = default;
};

struct DisplayString {       // §3.3.8
  std::string_view encoded;  // what stands between the quotes; percent-decoded it is UTF-8
  bool operator==(const DisplayString&) const = default;
};

using Integer = std::int64_t;  // §3.3.1: at most 15 digits
inline constexpr Integer kIntegerMost = 999'999'999'999'999;
using BareItem =
    std::variant<bool, Integer, Decimal, String, Token, ByteSequence, Date, DisplayString>;

struct Parameter {  // §3.1.2
  std::string_view key;
  BareItem value = true;
  bool operator==(const Parameter&) const = default;
};

struct Item {  // §3.3
  BareItem value = true;
  std::vector<Parameter> parameters;
  bool operator==(const Item&) const = default;
};

struct InnerList {  // §3.1.1
  std::vector<Item> items;
  std::vector<Parameter> parameters;
  bool operator==(const InnerList&) const = default;
};

struct Member {
  std::string_view key;
  std::variant<Item, InnerList> value;
  bool operator==(const Member&) const = default;
};

using Dictionary = std::vector<Member>;  // §3.2: each key once

using List = std::vector<std::variant<Item, InnerList>>;  // §3.1

// All lines of that name as one Dictionary (§4.2.2), empty where they say nothing or there are
// none. nullopt: something in them is no structured field, and so none of it counts (§4.2). Of a
// key that stands there twice the last value counts. A line that is no Dictionary by itself is a
// fault, even if joined with the next it were one, as §4.2 allows. Members, items of inner lists
// and parameters are together at most limits::structured_members; more is a fault.
[[nodiscard]] std::optional<Dictionary> parse_dictionary(const Fields& fields,
                                                         std::string_view field_name);

// The same of the value of one line, or of all of them joined, as a List (§4.2.1).
[[nodiscard]] std::optional<List> parse_list(std::string_view value);

// What a String means.
[[nodiscard]] std::string unescaped(String string);

// The value of a parameter; nullptr where there is none of that key.
[[nodiscard]] const BareItem* parameter(const Item& item, std::string_view key) noexcept;

// Whether it can be written as a Token.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

}  // namespace ringside::http::structured
