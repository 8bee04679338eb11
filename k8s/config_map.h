#pragma once

#include <string>
#include <string_view>

#include "k8s/access.h"
#include "k8s/api_client.h"
#include "k8s/failure.h"
#include "k8s/pace.h"

namespace ringside::k8s {

struct ConfigMapName {
  std::string name_space;  // empty: the pod's own
  std::string name;
  bool operator==(const ConfigMapName&) const = default;
};

// The key that is read and written.
inline constexpr std::string_view config_map_key = "state.json";

// One key of a ConfigMap that is there already, and that several processes write. Nobody writes
// over what another one has written since: each write names the resource version that it was made
// of (Kubernetes API concepts, "Resource versions"). Each call blocks. Thread-safe.
class ConfigMap {
 public:
  // `name` has a namespace. SIGPIPE must be ignored (program/signals.h).
  ConfigMap(ConfigMapName name, Access access, const Pace& pace)
      : name_(std::move(name)), client_(std::move(access), pace) {}

  struct Value {
    std::string text;  // empty: nobody has written the key yet
    std::string resource_version;
  };
  [[nodiscard]] Outcome<Value> read();
  // The new value. FailureReason::other with Failure::status 409: somebody has written since.
  [[nodiscard]] Outcome<Value> write(const std::string& text, const std::string& resource_version);

  // From any thread: whatever waits ends at once, with a failure.
  void stop() noexcept { client_.stop(); }

 private:
  [[nodiscard]] std::string path() const;
  [[nodiscard]] Question question(const char* verb) const;
  [[nodiscard]] Outcome<Value> value_of(const Outcome<std::string>& answer) const;

  const ConfigMapName name_;
  ApiClient client_;
};

}  // namespace ringside::k8s
