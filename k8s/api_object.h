#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "k8s/api_json.h"
#include "k8s/endpoint_slice.h"
#include "k8s/stateful_set.h"

// What objects of the Kubernetes API are in JSON. What is read is only of use where the ApiJson
// that it came from has no failure.
namespace ringside::k8s {

[[nodiscard]] StatefulSet read_stateful_set(const ApiField& object);

// Nothing: a slice of something else than IP addresses.
[[nodiscard]] std::optional<EndpointSlice> read_endpoint_slice(const ApiField& object);

struct ApiList {
  std::string resource_version;
  std::vector<ApiField> items;
};
// `kind` is that of its items.
[[nodiscard]] ApiList read_list(const ApiField& whole, std::string_view kind);

struct WatchEvent {
  enum class Type { added, modified, deleted, bookmark, error };
  Type type = Type::bookmark;
  std::string resource_version;  // of the object; empty with an error
  ApiField object;               // an error's is a Status
};
[[nodiscard]] WatchEvent read_event(const ApiField& whole, std::string_view kind);

}  // namespace ringside::k8s
