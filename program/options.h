#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "program/configuration.h"

// The options of all commands. An option is one row of the table in option_table.cc and one member
// of the Configuration: flags, the file's keys, `GET /config`, `--help` and what is generated of
// `ringside options` (docs/configuration.md among them) all come from the row.
namespace ringside::program {

// How an option gets at its value.
struct OptionValue {
  enum class Form { text, list, on_off };  // list: in a file also as a YAML list
  Form form = Form::text;
  // Sets it from its text. An Error says what is wrong with the text, not where it stands.
  Result<void> (*set)(Configuration& configuration, std::string_view text) = nullptr;
  // As it is written in a file; null where there is none.
  nlohmann::ordered_json (*show)(const Configuration& configuration) = nullptr;
  // Gives `next` the value of `running`; whether it had another. Null where a reload may change it.
  bool (*keep)(const Configuration& running, Configuration& next) = nullptr;
  // Of lists of replicas, which a file may write as maps.
  void (*set_members)(Configuration& configuration, std::vector<shard::MemberAt> members) = nullptr;
};

struct Option {
  std::string_view name;  // as a flag without its dashes
  unsigned commands = 0;  // bits of Command
  OptionValue value;
  std::string_view value_name;          // what is written, in --help
  std::string_view help;                // what it means, in one line
  std::string_view more = {};           // what only the documentation says, in Markdown
  std::string_view default_words = {};  // where they say more than the default value
  std::string_view example = {};        // in the example's file; empty: the default
  unsigned needed_by = 0;               // of the commands: those that can't do without

  [[nodiscard]] bool is_for(Command command) const noexcept {
    return (commands & static_cast<unsigned>(command)) != 0;
  }
  [[nodiscard]] bool is_needed_by(Command command) const noexcept {
    return (needed_by & static_cast<unsigned>(command)) != 0;
  }
  // As a key of the file: with '_' for '-'.
  [[nodiscard]] std::string key() const;
};

[[nodiscard]] std::span<const Option> all_options() noexcept;
// Nothing where no option has this key.
[[nodiscard]] const Option* find_option(std::string_view key) noexcept;

// Sets an option from a flag; the Error names the flag.
[[nodiscard]] Result<void> set_from_flag(Configuration& configuration, const Option& option,
                                         std::string_view text);

// What it is where it is not given; empty: nothing.
[[nodiscard]] std::string default_text(const Option& option, Command command);

// What is configured and can't be changed in a running process but differs in `next`; the options'
// names. `next` gets the values of `running`.
[[nodiscard]] std::vector<std::string> keep_fixed(const Configuration& running,
                                                  Configuration& next);

}  // namespace ringside::program
