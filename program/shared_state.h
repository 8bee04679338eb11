#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"
#include "k8s/config_map.h"
#include "shard/state_json.h"

namespace ringside::program {

// The state of a scheme in a ConfigMap, which every process of the tier may write
// (`--state-writer configmap:NAME`), as files of `--state` have it. What is written was made of
// what was read last: who comes second is refused, reads again, and cuts what there is then.
// Thread-safe; each call blocks for limits::state_timeout at most.
class SharedState {
 public:
  SharedState(const k8s::ConfigMapName& name, k8s::Access access);

  // What is written there; nullopt: nothing is yet. An Error names the remedy.
  [[nodiscard]] Result<std::optional<shard::StateFile>> read();
  // ErrorKind::refused: somebody has written since, or it was not read yet.
  [[nodiscard]] Result<void> write(const shard::StateFile& state);

  // From any thread: whatever waits ends at once.
  void stop() noexcept { config_map_.stop(); }

 private:
  [[nodiscard]] Result<std::optional<shard::StateFile>> take(const k8s::ConfigMap::Value& value);

  const std::string where_;  // for messages
  k8s::ConfigMap config_map_;
  std::mutex mutex_;                      // one question at a time; of what is below
  std::string version_;                   // that was read or written last; empty: none
  std::optional<shard::StateFile> last_;  // of that version
};

}  // namespace ringside::program
