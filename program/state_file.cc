#include "program/state_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/limits.h"
#include "program/state_database.h"
#include "shard/schemes.h"
#include "shard/state_json.h"

namespace ringside::program {
namespace {

Result<shard::StateFile> read_any(const std::string& path) {
  const auto of_file = [&](Error error, const char* remedy) {
    error.message = fmt::format("{}: {}{}", path, error.message, remedy);
    return error;
  };
  if (is_state_database(path)) {
    auto read = read_state_database(path);
    return read ? read : of_file(read.error(), "; give a file that Ringside has written");
  }
  auto text = read_file(path, limits::state_file_size_bytes);
  if (!text) {
    Error error = text.error();
    error.message += "; give a file that this process may read";
    return error;
  }
  // Whoever writes one writes it whole: so this one was cut short, or put there by hand.
  if (text->empty()) {
    return invalid_input(fmt::format(
        "{}: is empty; give the file that was written, or remove it to begin anew", path));
  }
  auto parsed = shard::parse_state_file(*text);
  return parsed ? parsed : of_file(parsed.error(), "");
}

// As the file is. A new one of a tier with a directory, where keys come one by one, is a database.
Result<void> write(const std::string& path, const shard::Topology& topology) {
  std::error_code missing;
  const auto size_bytes = std::filesystem::file_size(path, missing);
  const bool is_new = missing || size_bytes == 0;
  const shard::StateFile file{std::string(topology.scheme()), topology.state()};
  const bool has_directory = !shard::placeable(topology).empty();
  if (is_state_database(path) || (is_new && has_directory)) return write_state_database(path, file);
  return replace_file(path, shard::state_file_text(file));
}

}  // namespace

Result<void> read_state_file(Configuration& configuration) {
  const std::string& path = configuration.state_file;
  configuration.state = {};
  if (path.empty()) return {};
  const auto wrong = [&](const std::string& what) {
    return invalid_input(fmt::format("{}: {}", configuration.place("state"), what));
  };
  auto file = read_any(path);
  if (!file && file.error().kind == ErrorKind::not_found && writes_state(configuration)) return {};
  if (!file) return wrong(file.error().message);
  if (const std::string schemes = tier_schemes(configuration); file->scheme != schemes) {
    return wrong(fmt::format("{} is of the scheme {}, and {} is {}; let both name the same", path,
                             file->scheme, configuration.place("scheme"), schemes));
  }
  configuration.state = std::move(file->state);
  return {};
}

Configuration with_kept_state(const Configuration& running, Configuration loaded) {
  const bool is_same = tier_schemes(loaded) == tier_schemes(running);
  if (writes_state(running) && is_same) loaded.state = running.state;
  return loaded;
}

Result<void> keep_state(Configuration& configuration, const shard::Topology& topology) {
  if (!writes_state(configuration) || topology.state().is_empty()) return {};
  if (configuration.state_file.empty() || topology.state() == configuration.state) return {};
  if (auto written = write(configuration.state_file, topology); !written) {
    return Error{ErrorKind::internal, ErrorSource::ourselves, Retry::no,
                 fmt::format("{}: {}; the state stays as it is; give a file in a folder that "
                             "this process may write to, and that no other program has locked",
                             configuration.place("state"), written.error().message)};
  }
  configuration.state = topology.state();
  return {};
}

}  // namespace ringside::program
