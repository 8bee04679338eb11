#include "tests/fuzz/head_rules.h"

#include "http1/head_parser.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

constexpr std::size_t cuts_tried = 200;

using http::Field;
using http::Fields;
using http::Framing;
using Found = Result<std::optional<std::size_t>>;

void check_same(const Found& whole, const Found& pieces) {
  RINGSIDE_CHECK(whole.has_value() == pieces.has_value());
  if (whole) {
    RINGSIDE_CHECK(*whole == *pieces);
  } else {
    RINGSIDE_CHECK(whole.error().kind == pieces.error().kind);
  }
}

bool is_within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

}  // namespace

std::optional<std::size_t> find_head_in_any_cut(std::string_view bytes,
                                                const http::HeadLimits& limits,
                                                ErrorSource source) {
  const Found whole = http::find_head_end(bytes, 0, limits, source);
  // Every cut of what is short; of long heads so many, lest their number squared be the work.
  const std::size_t step = 1 + bytes.size() / cuts_tried;
  for (std::size_t cut = 1; cut < bytes.size(); cut += step) {
    const Found first = http::find_head_end(bytes.substr(0, cut), 0, limits, source);
    if (first && !first->has_value()) {
      check_same(whole, http::find_head_end(bytes, cut, limits, source));
    } else {
      check_same(whole, first);
    }
  }
  if (!whole || !whole->has_value()) return std::nullopt;
  RINGSIDE_CHECK(**whole <= bytes.size() && **whole <= limits.head_size_bytes);
  const std::string_view head = bytes.substr(0, **whole);
  RINGSIDE_CHECK(head.ends_with("\r\n\r\n"));
  RINGSIDE_CHECK(head.find('\0') == head.npos);
  return **whole;
}

void check_fields(std::string_view head, const Fields& fields, const http::HeadLimits& limits) {
  RINGSIDE_CHECK(fields.size() <= limits.fields);
  for (const Field& field : fields) {
    RINGSIDE_CHECK(is_within(field.name, head) && is_within(field.value, head));
    RINGSIDE_CHECK(http::is_token(field.name));
    RINGSIDE_CHECK(all_in(field.value, http::kValueClass));
    RINGSIDE_CHECK(http::trimmed(field.value) == field.value);
  }
  // Every CR and LF ends a line, and no line is folded into the one before.
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '\r') RINGSIDE_CHECK(head[i + 1] == '\n');
    if (head[i] != '\n') continue;
    RINGSIDE_CHECK(i != 0 && head[i - 1] == '\r');
    RINGSIDE_CHECK(i + 1 == head.size() || (head[i + 1] != ' ' && head[i + 1] != '\t'));
  }
}

void check_same_fields(const Fields& a, const Fields& b) {
  RINGSIDE_CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& one, auto& other) {
    return one.name == other.name && one.value == other.value;
  }));
}

void check_framing(const Fields& fields, const Framing& framing, int minor_version) {
  const auto lengths = fields.count("Content-Length");
  const auto codings = fields.count("Transfer-Encoding");
  switch (framing.kind) {
    case Framing::Kind::none:
    case Framing::Kind::until_close:
      RINGSIDE_CHECK(lengths == 0 && codings == 0);
      return;
    case Framing::Kind::length: {
      RINGSIDE_CHECK(lengths == 1 && codings == 0);
      std::string digits(*fields.first("Content-Length"));
      RINGSIDE_CHECK(all_in(digits, http::kDigitClass));
      digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
      RINGSIDE_CHECK(digits == std::to_string(framing.length_bytes));
      return;
    }
    case Framing::Kind::chunked:
      RINGSIDE_CHECK(lengths == 0 && codings == 1 && minor_version == 1);
      RINGSIDE_CHECK(http::same_token(*fields.first("Transfer-Encoding"), "chunked"));
      return;
  }
}

void check_same_framing(const Framing& a, const Framing& b) {
  RINGSIDE_CHECK(a.kind == b.kind && a.length_bytes == b.length_bytes);
}

void append_fields(std::string& out, const Fields& fields) {
  for (const Field& field : fields) {
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  out.append("\r\n");
}

}  // namespace ringside::fuzz
