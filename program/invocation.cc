#include "program/invocation.h"

#include "program/configuration_file.h"
#include "program/state_file.h"

namespace ringside::program {

Result<Configuration> load(const Invocation& invocation) {
  Configuration configuration = defaults(invocation.command);
  configuration.machine = this_machine().machine;
  if (!invocation.config_file.empty()) {
    auto overlaid = overlay_file(configuration, invocation.config_file);
    if (!overlaid) return overlaid.error();
  }
  for (const auto& [option, text] : invocation.flags) {
    if (auto set = set_from_flag(configuration, *option, text); !set) return set.error();
  }
  if (auto read = read_state_file(configuration); !read) return read.error();
  if (auto checked = check(invocation.command, configuration); !checked) return checked.error();
  return configuration;
}

std::vector<std::string> unused_keys(Command command, const Configuration& configuration) {
  std::vector<std::string> unused;
  for (const Option& option : all_options()) {
    if (configuration.given(option.name) && !option.is_for(command)) unused.push_back(option.key());
  }
  return unused;
}

}  // namespace ringside::program
