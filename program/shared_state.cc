#include "program/shared_state.h"

#include <fmt/format.h>

#include "base/limits.h"

namespace ringside::program {
namespace {

constexpr const char* key = "state.json";

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
      config_map_(name, key, std::move(access), pace()) {}

Result<std::optional<shard::StateFile>> SharedState::take(const k8s::ConfigMap::Value& value) {
  if (value.resource_version == version_) return last_;
  std::optional<shard::StateFile> state;
  if (!value.text.empty()) {
    auto parsed = shard::parse_state_file(value.text);
    if (!parsed) {
      return invalid_input(fmt::format("{}, {}: {}", where_, key, parsed.error().message));
    }
    state = *std::move(parsed);
  }
  version_ = value.resource_version;
  last_ = std::move(state);
  return last_;
}

Result<std::optional<shard::StateFile>> SharedState::read() {
  const std::lock_guard lock(mutex_);
  const auto value = config_map_.read();
  if (!value) return error_of(value.error());
  return take(*value);
}

Result<void> SharedState::write(const shard::StateFile& state) {
  const std::lock_guard lock(mutex_);
  const auto refused = [&](const char* why) {
    return Error{ErrorKind::refused, ErrorSource::peer, Retry::yes,
                 fmt::format("{} {}; ask again in a moment", where_, why)};
  };
  if (version_.empty()) return refused("is not read yet");
  const std::string text = shard::state_file_text(state);
  if (text.size() > limits::config_map_value_size_bytes) {
    return Error{ErrorKind::refused, ErrorSource::ourselves, Retry::no,
                 fmt::format("{} has no room for more shards: {} bytes, of {} at most; let one "
                             "process write them, to a file (--state-writer self --state FILE)",
                             where_, text.size(), limits::config_map_value_size_bytes)};
  }
  constexpr int conflict = 409;
  const auto written = config_map_.write(text, version_);
  if (!written && written.error().status == conflict) {
    return refused("was written by another process since");
  }
  if (!written) return error_of(written.error());
  version_ = written->resource_version;
  last_ = state;
  return {};
}

}  // namespace ringside::program
