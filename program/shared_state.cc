#include "program/shared_state.h"

#include <fmt/format.h>

#include "base/limits.h"

namespace ringside::program {
namespace {

k8s::Pace pace() {
  k8s::Pace pace;
  pace.connect_timeout = pace.answer_timeout = pace.answer_whole = limits::state_timeout;
  return pace;
}

Error error_of(const k8s::Failure& failure) {
  return {ErrorKind::internal, ErrorSource::peer, Retry::yes, failure.message};
}

}  // namespace

SharedState::SharedState(const k8s::ConfigMapName& name, k8s::Access access)
    : where_(fmt::format("ConfigMap {} in namespace {}", name.name, name.name_space)),
      config_map_(name, std::move(access), pace()) {}

Result<SharedState::Read> SharedState::read() {
  auto value = config_map_.read();
  if (!value) return error_of(value.error());
  Read read{std::nullopt, std::move(value->resource_version)};
  if (value->text.empty()) return read;
  auto parsed = shard::parse_state_file(value->text);
  if (!parsed) {
    return invalid_input(
        fmt::format("{}, {}: {}; mend it, or take the key out, and the shards in "
                    "use are written anew",
                    where_, k8s::config_map_key, parsed.error().message));
  }
  read.state = *std::move(parsed);
  return read;
}

Result<std::string> SharedState::write(const shard::StateFile& state, const std::string& version) {
  const auto refused = [&](const char* why) {
    return Error{ErrorKind::refused, ErrorSource::peer, Retry::yes,
                 fmt::format("{} {}; ask again in a moment", where_, why)};
  };
  if (version.empty()) return refused("is not read yet (/readyz tells why, where that lasts)");
  const std::string text = shard::state_file_text(state);
  if (text.size() > limits::config_map_value_size_bytes) {
    return Error{ErrorKind::overloaded, ErrorSource::ourselves, Retry::no,
                 fmt::format("{} has no room for more shards: {} bytes, of {} at most; let one "
                             "process write them, to a file (--state-writer self --state FILE)",
                             where_, text.size(), limits::config_map_value_size_bytes)};
  }
  constexpr int conflict = 409;
  auto written = config_map_.write(text, version);
  if (!written && written.error().status == conflict) {
    return refused("was written by another process since");
  }
  if (!written) return error_of(written.error());
  return std::move(written->resource_version);
}

}  // namespace ringside::program
