#include "program/invocation.h"

#include "program/configuration_file.h"
#include "program/countries.h"
#include "program/state_file.h"

namespace ringside::program {

namespace {

// The files that it names and that are read after it, with each reload.
void add_named(FileWatch& files, Command command, const Configuration& configuration) {
  const auto add = [&](std::string path) {
    if (!path.empty()) files.add(std::move(path));
  };
  add(configuration.peer_key_file);
  if (!writes_state(configuration)) add(configuration.state_file);
  add(configuration.admin_token_file);
  if (command != Command::cache) add(country_file(configuration));
}

}  // namespace

Result<Configuration> load(const Invocation& invocation, FileWatch* files) {
  FileWatch watched;
  Configuration configuration = defaults(invocation.command);
  configuration.machine = this_machine().machine;
  if (!invocation.config_file.empty()) {
    watched.add(invocation.config_file);
    auto overlaid = overlay_file(configuration, invocation.config_file);
    if (!overlaid) return overlaid.error();
  }
  for (const auto& [option, text] : invocation.flags) {
    if (auto set = set_from_flag(configuration, *option, text); !set) return set.error();
  }
  if (files != nullptr) add_named(watched, invocation.command, configuration);
  if (auto read = read_state_file(configuration); !read) return read.error();
  if (auto checked = check(invocation.command, configuration); !checked) return checked.error();
  if (files != nullptr) *files = std::move(watched);
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
