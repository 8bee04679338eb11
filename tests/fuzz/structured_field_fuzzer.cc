// Lines of a field that is a Dictionary, of one that is a List, and of one with cache directives.
#include <string>

#include "base/limits.h"
#include "http/structured_field.h"
#include "http/targeted_cache_control.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using http::Fields;
using namespace http::structured;

constexpr std::string_view kName = "CDN-Cache-Control";

// The canonical text (RFC 9651 §4.1), but for byte sequences, which keep the padding that they
// have.
void append(std::string& out, bool value) { out += value ? "?1" : "?0"; }
void append(std::string& out, Integer value) { out += std::to_string(value); }
void append(std::string& out, Decimal value) {
  std::int64_t thousandths = value.thousandths;
  if (thousandths < 0) {
    out += '-';
    thousandths = -thousandths;
  }
  std::string fraction = std::to_string(1000 + thousandths % 1000).substr(1);
  while (fraction.size() > 1 && fraction.back() == '0') fraction.pop_back();
  out += std::to_string(thousandths / 1000) + "." + fraction;
}
void append(std::string& out, String value) { (out += '"').append(value.escaped).push_back('"'); }
void append(std::string& out, Token value) { out += value.text; }
void append(std::string& out, ByteSequence value) {
  (out += ':').append(value.base64).push_back(':');
}
void append(std::string& out, Date value) { out += "@" + std::to_string(value.unix_seconds); }
void append(std::string& out, DisplayString value) {
  (out += "%\"").append(value.encoded).push_back('"');
}

void append_bare(std::string& out, const BareItem& item) {
  std::visit([&out](const auto& value) { append(out, value); }, item);
}

void append(std::string& out, const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    (out += ';').append(parameter.key);
    if (parameter.value == BareItem(true)) continue;
    out += '=';
    append_bare(out, parameter.value);
  }
}

void append(std::string& out, const Item& item) {
  append_bare(out, item.value);
  append(out, item.parameters);
}

void append(std::string& out, const InnerList& list) {
  out += '(';
  for (const Item& item : list.items) {
    if (&item != &list.items.front()) out += ' ';
    append(out, item);
  }
  out += ')';
  append(out, list.parameters);
}

std::string canonical(const Dictionary& dictionary) {
  std::string out;
  for (const Member& member : dictionary) {
    if (!out.empty()) out += ", ";
    out += member.key;
    const auto* item = std::get_if<Item>(&member.value);
    if (item != nullptr && item->value == BareItem(true)) {
      append(out, item->parameters);
      continue;
    }
    out += '=';
    std::visit([&out](const auto& value) { append(out, value); }, member.value);
  }
  return out;
}

std::string canonical(const List& list) {
  std::string out;
  for (const auto& member : list) {
    if (!out.empty()) out += ", ";
    std::visit([&out](const auto& value) { append(out, value); }, member);
  }
  return out;
}

Fields one_line(std::string_view line) {
  Fields fields;
  fields.add(kName, line);
  return fields;
}

// What is read and written again is read as the same.
void check_canonical(const Dictionary& dictionary) {
  const std::string text = canonical(dictionary);
  const Fields fields = one_line(text);
  const auto again = parse_dictionary(fields, kName);
  RINGSIDE_CHECK(again == dictionary);
  RINGSIDE_CHECK(canonical(*again) == text);
}

void check_list(std::string_view line) {
  const auto list = parse_list(line);
  if (!list) return;
  RINGSIDE_CHECK(list->size() <= limits::structured_members);
  const std::string text = canonical(*list);
  RINGSIDE_CHECK(parse_list(text) == list);
}

void check_within_limits(const std::optional<Seconds>& delta) {
  RINGSIDE_CHECK(!delta || (*delta >= Seconds{0} && *delta <= limits::delta_seconds_most));
}

void check_directives(const http::ResponseDirectives& directives) {
  RINGSIDE_CHECK(directives.is_targeted);
  check_within_limits(directives.max_age);
  check_within_limits(directives.s_maxage);
  check_within_limits(directives.stale_while_revalidate);
  check_within_limits(directives.stale_if_error);
  for (const auto* names : {&directives.no_cache_fields, &directives.private_fields}) {
    for (const std::string_view name : *names) RINGSIDE_CHECK(http::is_token(name));
  }
}

// What means the same in a Dictionary and in Cache-Control: each name once, without parameters, a
// Boolean true, or where seconds are due an Integer that is not negative.
bool is_plain(const Dictionary& dictionary) {
  return std::all_of(dictionary.begin(), dictionary.end(), [](const Member& member) {
    const auto* item = std::get_if<Item>(&member.value);
    if (item == nullptr || !item->parameters.empty()) return false;
    const auto* row = http::find_directive(http::kResponseDirectives, member.key);
    if (row == nullptr || row->seconds == nullptr) return item->value == BareItem(true);
    const auto* seconds = std::get_if<Integer>(&item->value);
    return seconds != nullptr && *seconds >= 0;
  });
}

void check_same_as_cache_control(const Dictionary& dictionary,
                                 const http::ResponseDirectives& directives) {
  if (!is_plain(dictionary)) return;
  const std::string text = canonical(dictionary);
  Fields fields;
  fields.add("Cache-Control", text);
  auto plain = http::parse_response_directives(fields);
  plain.is_targeted = true;
  RINGSIDE_CHECK(plain == directives);
}

void check_surrogate_control(std::string_view input) {
  Fields fields;
  for (const std::string_view line : lines_of(input)) fields.add("surrogate-control", line);
  const auto directives = http::parse_targeted_directives(fields, "Surrogate-Control");
  if (directives) check_directives(*directives);
  fields.add("Surrogate-Control", "no-store");
  const auto more = http::parse_targeted_directives(fields, "Surrogate-Control");
  RINGSIDE_CHECK(more && more->no_store);
}

}  // namespace

void examine(std::string_view input) {
  check_surrogate_control(input);
  Fields fields;
  for (const std::string_view line : lines_of(input)) {
    check_list(line);
    fields.add("cdn-cache-control", line);
  }
  const auto dictionary = parse_dictionary(fields, kName);
  const auto directives = http::parse_targeted_directives(fields, kName);
  RINGSIDE_CHECK(directives.has_value() == (dictionary && !dictionary->empty()));
  if (!directives) return;
  RINGSIDE_CHECK(dictionary->size() <= limits::structured_members);
  check_canonical(*dictionary);
  check_directives(*directives);
  check_same_as_cache_control(*dictionary, *directives);
}

}  // namespace ringside::fuzz
