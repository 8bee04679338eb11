#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "program/yaml_document.h"

namespace ringside::program {

// A file of settings by its name: how its readers say what is wrong in it.
class YamlFile {
 public:
  explicit YamlFile(std::string name) : name_(std::move(name)) {}

  // `FILE:LINE`
  [[nodiscard]] std::string place(int line) const;
  // `FILE:LINE: message`
  [[nodiscard]] Error wrong(int line, std::string_view message) const;
  // `FILE:LINE: key: message`
  [[nodiscard]] Error wrong(const YamlValue::Entry& entry, const Error& error) const;
  // `where` is what the map is: "of a route".
  [[nodiscard]] Error unknown_key(const YamlValue::Entry& entry, std::string_view where,
                                  const std::vector<std::string_view>& known) const;
  // The text of a single value.
  [[nodiscard]] Result<std::string_view> text_of(const YamlValue::Entry& entry) const;

 private:
  std::string name_;
};

}  // namespace ringside::program
