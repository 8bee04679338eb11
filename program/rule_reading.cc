#include "program/rule_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "base/quotation.h"
#include "http/fields.h"
#include "program/rule_values.h"
#include "program/values.h"

namespace ringside::program {
namespace {

using Entry = YamlValue::Entry;
using Kind = YamlValue::Kind;

// Half of the longest head is left to the message's own fields.
constexpr std::size_t set_fields_size_bytes = limits::head_size_bytes / 2;

template <auto parse>
auto read_text(const YamlFile& file, const Entry& entry) -> decltype(parse(std::string_view())) {
  const auto text = file.text_of(entry);
  if (!text) return text.error();
  auto value = parse(*text);
  if (!value) return file.wrong(entry, value.error());
  return value;
}

Result<std::uint64_t> read_number(const YamlFile& file, const Entry& entry, std::uint64_t least,
                                  std::uint64_t most) {
  const auto text = file.text_of(entry);
  if (!text) return text.error();
  auto number = parse_number(*text, least, most);
  if (!number) return file.wrong(entry, number.error());
  return number;
}

Error twice(const YamlFile& file, int line, const Entry& entry, std::string_view what) {
  return file.wrong(line,
                    fmt::format("{}: {} is there twice; take one out", entry.key, quotation(what)));
}

// A list, or the one item that stands there alone.
template <auto parse, class Same = std::equal_to<>>
auto read_items(const YamlFile& file, const Entry& entry, std::size_t most, Same same = {}) {
  using Item = typename decltype(parse(std::string_view()))::value_type;
  using Items = Result<std::vector<Item>>;
  const auto fail = [&](int line, std::string_view message) {
    return Items(file.wrong(line, fmt::format("{}: {}", entry.key, message)));
  };
  if (entry.value.kind == Kind::map) {
    return fail(entry.line, "it is a map; write a list of single values");
  }
  std::vector<YamlValue> alone;
  if (entry.value.kind == Kind::scalar) alone.push_back(entry.value);
  const auto& values = entry.value.kind == Kind::scalar ? alone : entry.value.items;
  if (values.size() > most) {
    return fail(entry.line, fmt::format("{} of them; name at most {}", values.size(), most));
  }
  std::vector<Item> items;
  for (const YamlValue& value : values) {
    if (value.kind != Kind::scalar) {
      return fail(value.line, fmt::format("an item is {}; write single values", name(value.kind)));
    }
    auto item = parse(value.text);
    if (!item) return fail(value.line, item.error().message);
    const bool known = std::any_of(items.begin(), items.end(),
                                   [&](const Item& other) { return same(other, *item); });
    if (known) return Items(twice(file, value.line, entry, value.text));
    items.push_back(*std::move(item));
  }
  return Items(std::move(items));
}

Result<void> expect_map(const YamlFile& file, const Entry& entry, std::string_view such_as) {
  if (entry.value.kind == Kind::map) return {};
  return file.wrong(entry.line, fmt::format("{} is {}; write a map, such as {}", entry.key,
                                            name(entry.value.kind), such_as));
}

Result<std::optional<Seconds>> parse_ttl_or_none(std::string_view text) {
  if (text == "none") return std::optional<Seconds>();
  auto ttl = parse_ttl(text);
  if (!ttl) return ttl.error();
  return std::optional<Seconds>(*ttl);
}

// Whether everything that `kept` stands for is dropped by `dropped`.
bool drops(const std::string& dropped, const std::string& kept) {
  if (!dropped.ends_with('*')) return dropped == kept;
  return kept.starts_with(dropped.substr(0, dropped.size() - 1));
}

Result<void> check_kept(const YamlFile& file, const Entry& entry, const http::QueryRules& rules) {
  for (const std::string& kept : rules.keep) {
    for (const std::string& dropped : rules.drop) {
      if (!drops(dropped, kept)) continue;
      return file.wrong(entry.line, fmt::format("{}: keep names {}, which drop takes away by {}; "
                                                "take one of them out",
                                                entry.key, quotation(kept), quotation(dropped)));
    }
  }
  return {};
}

using Fields = std::vector<std::pair<std::string, std::string>>;

template <auto parse>
Result<Fields> read_set(const YamlFile& file, const Entry& entry) {
  if (auto map = expect_map(file, entry, "{X-Tier: ringside}"); !map) return map.error();
  if (entry.value.entries.size() > limits::rule_names) {
    return file.wrong(entry.line, fmt::format("{}: {} fields; set at most {}", entry.key,
                                              entry.value.entries.size(), limits::rule_names));
  }
  Fields fields;
  std::size_t size_bytes = 0;
  for (const Entry& line : entry.value.entries) {
    auto name = parse(line.key);
    if (!name) return file.wrong(line.line, fmt::format("{}: {}", entry.key, name.error().message));
    auto value = read_text<parse_field_value>(file, line);
    if (!value) return value.error();
    const bool known = std::any_of(fields.begin(), fields.end(), [&](const auto& other) {
      return http::same_token(other.first, *name);
    });
    if (known) return twice(file, line.line, entry, *name);
    size_bytes += name->size() + value->size();
    fields.emplace_back(*std::move(name), *std::move(value));
  }
  if (size_bytes <= set_fields_size_bytes) return fields;
  return file.wrong(entry.line, fmt::format("{}: {} bytes; set at most {}", entry.key, size_bytes,
                                            set_fields_size_bytes));
}

template <auto parse>
Result<http::FieldRules> read_fields(const YamlFile& file, const Entry& entry) {
  if (auto map = expect_map(file, entry, "{remove: [X-Powered-By]}"); !map) return map.error();
  http::FieldRules rules;
  for (const Entry& part : entry.value.entries) {
    if (part.key == "set") {
      auto fields = read_set<parse>(file, part);
      if (!fields) return fields.error();
      rules.set = *std::move(fields);
    } else if (part.key == "remove") {
      auto names = read_items<parse>(file, part, limits::rule_names, http::same_token);
      if (!names) return names.error();
      rules.remove = *std::move(names);
    } else {
      return file.unknown_key(part, fmt::format("of {}", entry.key), {"set", "remove"});
    }
  }
  const http::FieldRules removed{rules.remove, {}};
  for (const auto& field : rules.set) {
    if (!removed.replaces(field.first)) continue;
    return file.wrong(
        entry.line, fmt::format("{}: {} is both set and removed; set alone replaces what is there",
                                entry.key, quotation(field.first)));
  }
  return rules;
}

}  // namespace

Result<bool> read_switch(const YamlFile& file, const Entry& entry) {
  return read_text<parse_switch>(file, entry);
}

Result<std::optional<Seconds>> read_ttl(const YamlFile& file, const Entry& entry) {
  return read_text<parse_ttl_or_none>(file, entry);
}

Result<std::vector<cache::StatusTtl>> read_ttl_by_status(const YamlFile& file, const Entry& entry) {
  if (auto map = expect_map(file, entry, "{200-299: 1h, 404: 10s}"); !map) return map.error();
  if (entry.value.entries.size() > limits::rule_ttls) {
    return file.wrong(entry.line,
                      fmt::format("{}: {} of them; write at most {}, with ranges", entry.key,
                                  entry.value.entries.size(), limits::rule_ttls));
  }
  std::vector<cache::StatusTtl> out;
  for (const Entry& line : entry.value.entries) {
    auto statuses = parse_statuses(line.key);
    if (!statuses) {
      return file.wrong(line.line, fmt::format("{}: {}", entry.key, statuses.error().message));
    }
    for (const cache::StatusTtl& earlier : out) {
      if (earlier.first > statuses->first || earlier.last < statuses->last) continue;
      return file.wrong(line.line,
                        fmt::format("{}: {} never counts, since {} stands before it; put the "
                                    "narrower one first",
                                    entry.key, line.key, statuses_text(earlier)));
    }
    const auto ttl = read_text<parse_ttl>(file, line);
    if (!ttl) return ttl.error();
    statuses->ttl = *ttl;
    out.push_back(*statuses);
  }
  return out;
}

Result<unsigned> read_percent(const YamlFile& file, const Entry& entry) {
  constexpr std::uint64_t most = 99;
  const auto number = read_number(file, entry, 0, most);
  if (!number) return number.error();
  return static_cast<unsigned>(*number);
}

Result<std::vector<std::string>> read_targeted(const YamlFile& file, const Entry& entry) {
  return read_items<parse_targeted_field>(file, entry, limits::targeted_fields, http::same_token);
}

Result<cache::InvalidAge> read_invalid_age(const YamlFile& file, const Entry& entry) {
  return read_text<parse_invalid_age>(file, entry);
}

Result<cache::SetCookie> read_set_cookie(const YamlFile& file, const Entry& entry) {
  return read_text<parse_set_cookie>(file, entry);
}

Result<std::optional<Seconds>> read_client_no_cache(const YamlFile& file, const Entry& entry) {
  return read_text<parse_client_no_cache>(file, entry);
}

Result<std::vector<cache::Condition>> read_conditions(const YamlFile& file, const Entry& entry) {
  return read_items<parse_condition>(file, entry, limits::rule_conditions);
}

Result<std::size_t> read_variants_most(const YamlFile& file, const Entry& entry) {
  // As many as there are without a rule, for each class of Accept-Encoding.
  constexpr std::uint64_t most = limits::variants_per_key * limits::content_codings;
  const auto number = read_number(file, entry, 1, most);
  if (!number) return number.error();
  return static_cast<std::size_t>(*number);
}

Result<std::vector<std::string>> read_content_codings(const YamlFile& file, const Entry& entry) {
  return read_items<parse_content_coding>(file, entry, limits::content_codings);
}

Result<http::QueryRules> read_query(const YamlFile& file, const Entry& entry) {
  if (auto map = expect_map(file, entry, "{sort: true, drop: [utm_*]}"); !map) return map.error();
  http::QueryRules rules;
  for (const Entry& part : entry.value.entries) {
    if (part.key == "sort") {
      const auto sort = read_switch(file, part);
      if (!sort) return sort.error();
      rules.sort = *sort;
    } else if (part.key == "keep" || part.key == "drop") {
      auto names = read_items<parse_parameter_name>(file, part, limits::rule_names);
      if (!names) return names.error();
      (part.key == "keep" ? rules.keep : rules.drop) = *std::move(names);
    } else {
      return file.unknown_key(part, "of query", {"sort", "keep", "drop"});
    }
  }
  if (auto kept = check_kept(file, entry, rules); !kept) return kept.error();
  return rules;
}

Result<http::PathRules> read_paths(const YamlFile& file, const Entry& entry) {
  if (auto map = expect_map(file, entry, "{escaped_slashes: keep}"); !map) return map.error();
  http::PathRules rules;
  for (const Entry& part : entry.value.entries) {
    const bool merges = part.key == "merge_slashes";
    if (!merges && part.key != "escaped_slashes" && part.key != "path_parameters") {
      return file.unknown_key(part, "of paths",
                              {"merge_slashes", "escaped_slashes", "path_parameters"});
    }
    const auto value = merges ? read_switch(file, part) : read_text<parse_refusal>(file, part);
    if (!value) return value.error();
    (merges                          ? rules.merge_slashes
     : part.key == "escaped_slashes" ? rules.refuses_escaped_slashes
                                     : rules.refuses_parameters) = *value;
  }
  return rules;
}

Result<http::FieldRules> read_request_fields(const YamlFile& file, const Entry& entry) {
  return read_fields<parse_request_field>(file, entry);
}

Result<http::FieldRules> read_response_fields(const YamlFile& file, const Entry& entry) {
  return read_fields<parse_response_field>(file, entry);
}

Result<std::size_t> read_slice(const YamlFile& file, const Entry& entry) {
  return read_text<parse_slice>(file, entry);
}

}  // namespace ringside::program
