#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "k8s/config_map.h"
#include "shard/state_json.h"

namespace ringside::program {

// The state of a scheme in a ConfigMap, which every process of the tier may write
// (`--state-writer configmap:NAME`), in the form of files of `--state`. Thread-safe; each call
// blocks: for a connection, and for the answer, limits::state_timeout each.
class SharedState {
 public:
  SharedState(const k8s::ConfigMapName& name, k8s::Access access);

  // A version is the API server's: another one means that somebody has written.
  struct Read {
    std::optional<shard::StateFile> state;  // nullopt: nobody has written any yet
    std::string version;
  };
  // An Error names the remedy.
  [[nodiscard]] Result<Read> read();
  // Writes a state that was made of the one of `version`; the version after it.
  // ErrorKind::refused: somebody has written since, so nothing is written.
  [[nodiscard]] Result<std::string> write(const shard::StateFile& state,
                                          const std::string& version);

  [[nodiscard]] const std::string& where() const noexcept { return where_; }  // for messages
  // From any thread: whatever waits ends at once.
  void stop() noexcept { config_map_.stop(); }

 private:
  const std::string where_;
  k8s::ConfigMap config_map_;
};

}  // namespace ringside::program
