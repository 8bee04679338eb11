#include "program/state_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/limits.h"
#include "shard/state_json.h"

namespace ringside::program {

Result<void> read_state_file(Configuration& configuration) {
  const std::string& path = configuration.state_file;
  configuration.state = {};
  if (path.empty()) return {};
  const auto wrong = [&](const std::string& what) {
    return invalid_input(fmt::format("{}: {}", configuration.place("state"), what));
  };
  const auto text = read_file(path, limits::state_file_size_bytes);
  if (!text && text.error().kind == ErrorKind::not_found && writes_state(configuration)) return {};
  if (!text) return wrong(text.error().message + "; give a file that this process may read");
  auto file = shard::parse_state_file(*text);
  if (!file) return wrong(fmt::format("{}: {}", path, file.error().message));
  if (file->scheme != configuration.scheme) {
    return wrong(fmt::format("{} is of the scheme {}, and {} is {}; let both name the same", path,
                             file->scheme, configuration.place("scheme"), configuration.scheme));
  }
  configuration.state = std::move(file->state);
  return {};
}

Configuration with_kept_state(const Configuration& running, Configuration loaded) {
  if (writes_state(running) && loaded.scheme == running.scheme) loaded.state = running.state;
  return loaded;
}

Result<void> keep_state(Configuration& configuration, const shard::Topology& topology) {
  if (!writes_state(configuration) || !topology.has_state()) return {};
  if (configuration.state_file.empty() || topology.state() == configuration.state) return {};
  const std::string text =
      shard::state_file_text({std::string(topology.scheme()), topology.state()});
  if (auto written = replace_file(configuration.state_file, text); !written) {
    return Error{ErrorKind::internal, ErrorSource::ourselves, Retry::no,
                 fmt::format("{}: {}; the shards stay as they are; give a file in a folder that "
                             "this process may write to",
                             configuration.place("state"), written.error().message)};
  }
  configuration.state = topology.state();
  return {};
}

}  // namespace ringside::program
