#include "program/invocation.h"

#include "program/configuration_file.h"
#include "program/countries.h"
#include "program/state_file.h"

namespace ringside::program {

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
  if (!configuration.state_file.empty()) watched.add(configuration.state_file);
  if (auto read = read_state_file(configuration); !read) return read.error();
  if (auto checked = check(invocation.command, configuration); !checked) return checked.error();
  if (files != nullptr) *files = std::move(watched);
  return configuration;
}

void watch_named(FileWatch& files, Command command, const Configuration& in_use) {
  if (writes_state(in_use)) files.drop(in_use.state_file);
  for (const std::string& path : {in_use.peer_key_file, in_use.admin_token_file,
                                  command == Command::cache ? "" : country_file(in_use)}) {
    if (!path.empty()) files.add(path);
  }
}

Result<Reloaded> load_again(const Invocation& invocation, const Configuration& running) {
  Reloaded out;
  auto loaded = load(invocation, &out.files);
  if (!loaded) return loaded.error();
  out.configuration = *std::move(loaded);
  out.kept = keep_fixed(running, out.configuration);
  watch_named(out.files, invocation.command, out.configuration);
  return out;
}

std::vector<std::string> unused_keys(Command command, const Configuration& configuration) {
  std::vector<std::string> unused;
  for (const Option& option : all_options()) {
    if (configuration.given(option.name) && !option.is_for(command)) unused.push_back(option.key());
  }
  return unused;
}

}  // namespace ringside::program
