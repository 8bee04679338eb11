#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "program/configuration.h"

namespace ringside::program {

// An option: a flag and a key of the configuration file at once, with one way to read its text.
struct Option {
  enum class Form { text, list, on_off };  // list: in a file also as a YAML list
  std::string_view name;                   // as a flag without its dashes
  unsigned commands = 0;                   // bits of Command
  Form form = Form::text;
  std::string_view value_name;  // in --help
  std::string_view help;
  // Sets it from its text. An Error says what is wrong with the text, not where it stands.
  Result<void> (*set)(Configuration& configuration, std::string_view text) = nullptr;

  [[nodiscard]] bool is_for(Command command) const noexcept {
    return (commands & static_cast<unsigned>(command)) != 0;
  }
  // As a key of the file: with '_' for '-'.
  [[nodiscard]] std::string key() const;
};

[[nodiscard]] std::span<const Option> all_options() noexcept;

// Sets an option from a flag; the Error names the flag.
[[nodiscard]] Result<void> set_from_flag(Configuration& configuration, const Option& option,
                                         std::string_view text);

}  // namespace ringside::program
