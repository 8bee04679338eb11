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

}  // namespace ringside::program
