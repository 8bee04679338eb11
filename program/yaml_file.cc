#include "program/yaml_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quotation.h"
#include "program/misplaced_key.h"
#include "program/spelling.h"

namespace ringside::program {

std::string YamlFile::place(int line) const { return fmt::format("{}:{}", name_, line); }

Error YamlFile::wrong(int line, std::string_view message) const {
  return invalid_input(fmt::format("{}:{}: {}", name_, line, message));
}

Error YamlFile::wrong(const YamlValue::Entry& entry, const Error& error) const {
  return wrong(entry.line, fmt::format("{}: {}", entry.key, error.message));
}

Error YamlFile::unknown_key(const YamlValue::Entry& entry, std::string_view where,
                            const std::vector<std::string_view>& known) const {
  std::string remedy = remedy_of_misplaced(entry.key);
  if (remedy.empty()) {
    const std::string_view meant = closest(entry.key, known);
    remedy = meant.empty() ? fmt::format("it may be {}", fmt::join(known, ", "))
                           : fmt::format("did you mean {}?", meant);
  }
  return wrong(entry.line, fmt::format("{} is no key {}; {}", quotation(entry.key), where, remedy));
}

Result<std::string_view> YamlFile::text_of(const YamlValue::Entry& entry) const {
  if (entry.value.kind == YamlValue::Kind::scalar) return std::string_view(entry.value.text);
  return wrong(entry.line, fmt::format("{} is {}; write a single value", quotation(entry.key),
                                       program::name(entry.value.kind)));
}

}  // namespace ringside::program
