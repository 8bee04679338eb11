#include "k8s/config_map.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "k8s/api_json.h"

namespace ringside::k8s {

std::string ConfigMap::path() const {
  return fmt::format("/api/v1/namespaces/{}/configmaps/{}", name_.name_space, name_.name);
}

Question ConfigMap::question(const char* verb) const {
  return {verb, "configmaps", name_.name_space,
          "the verbs get and patch on it, as k8s/overlays/shards has it"};
}

Outcome<ConfigMap::Value> ConfigMap::value_of(const Outcome<std::string>& answer) const {
  constexpr int not_found = 404;
  if (!answer && answer.error().status == not_found) {
    Failure failure = answer.error();
    failure.message = fmt::format(
        "there is no ConfigMap {} in namespace {}; make it: kubectl create configmap {} "
        "--namespace {}",
        name_.name, name_.name_space, name_.name, name_.name_space);
    return failure;
  }
  if (!answer) return answer.error();
  ApiJson json(*answer);
  const ApiField root = json.root();
  Value value{root.at("data").at(config_map_key).text(),
              root.at("metadata").at("resourceVersion").needed_text()};
  if (json.failure()) return *json.failure();
  return value;
}

Outcome<ConfigMap::Value> ConfigMap::read() {
  return value_of(client_.get(path(), question("get")));
}

// A patch leaves what others have in the object as it is; with a resource version it is refused
// where that is not the present one.
Outcome<ConfigMap::Value> ConfigMap::write(const std::string& text,
                                           const std::string& resource_version) {
  const nlohmann::json patch{{"metadata", {{"resourceVersion", resource_version}}},
                             {"data", {{std::string(config_map_key), text}}}};
  return value_of(client_.merge(path(), question("patch"), patch.dump()));
}

}  // namespace ringside::k8s
