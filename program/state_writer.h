#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/error.h"
#include "k8s/config_map.h"

namespace ringside::program {

// Who writes the state of the tier's scheme (shard/state.h). There is one at a time, and all others
// route by what that one publishes: so no key is placed twice, and no shard is cut in two ways.
struct StateWriter {
  std::optional<Endpoint> at{};  // its admin address; nullopt: this process itself
  // Every process of the tier is, one at a time: a ConfigMap says who comes first.
  std::optional<k8s::ConfigMapName> config_map{};
  bool operator==(const StateWriter&) const = default;

  // `self`, `ADDRESS:PORT`, or `configmap:[NAMESPACE/]NAME`.
  [[nodiscard]] static Result<StateWriter> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

}  // namespace ringside::program
