#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "k8s/assembly.h"
#include "k8s/reflection.h"

// Objects of the API as its documentation has them, and what tests say of failures.
namespace ringside::k8s {

using nlohmann::json;

inline json set_object(const std::string& version, std::uint64_t replicas = 3) {
  return {{"kind", "StatefulSet"},
          {"apiVersion", "apps/v1"},
          {"metadata",
           {{"name", "cache"},
            {"namespace", "shop"},
            {"resourceVersion", version},
            {"generation", 7},
            {"annotations", {{"other.example/note", "x"}}}}},
          {"spec",
           {{"replicas", replicas},
            {"serviceName", "cache"},
            {"template", {{"spec", {{"containers", json::array()}}}}}}}};
}

inline json endpoint_object(const std::string& pod, const std::string& address,
                            const json& conditions = {{"ready", true}}) {
  return {{"addresses", json::array({address})},
          {"conditions", conditions},
          {"hostname", pod},
          {"targetRef", {{"kind", "Pod"}, {"namespace", "shop"}, {"name", pod}}},
          {"nodeName", "node-1"},
          {"zone", "zone-a"}};
}

inline json slice_object(const std::string& name, const std::string& version,
                         const std::vector<json>& endpoints, const std::string& type = "IPv4") {
  return {{"kind", "EndpointSlice"},
          {"apiVersion", "discovery.k8s.io/v1"},
          {"metadata", {{"name", name}, {"namespace", "shop"}, {"resourceVersion", version}}},
          {"addressType", type},
          {"endpoints", endpoints},
          {"ports", json::array({{{"name", "http"}, {"port", 8080}, {"protocol", "TCP"}}})}};
}

// Items of a list carry no kind.
inline std::string list_of(const std::string& kind, const std::string& version,
                           std::vector<json> items) {
  for (json& item : items) item.erase("kind");
  return json{{"kind", kind + "List"},
              {"apiVersion", "v1"},
              {"metadata", {{"resourceVersion", version}}},
              {"items", items}}
      .dump();
}
inline std::string sets(const std::string& version, std::vector<json> items) {
  return list_of("StatefulSet", version, std::move(items));
}
inline std::string slices(const std::string& version, std::vector<json> items) {
  return list_of("EndpointSlice", version, std::move(items));
}

inline std::string event_of(const std::string& type, const json& object) {
  return json{{"type", type}, {"object", object}}.dump();
}

inline std::string bookmark_of(const std::string& kind, const std::string& version) {
  return event_of("BOOKMARK", {{"kind", kind}, {"metadata", {{"resourceVersion", version}}}});
}

inline std::string error_event(int code, const std::string& reason, const std::string& message) {
  return event_of("ERROR", {{"kind", "Status"},
                            {"status", "Failure"},
                            {"code", code},
                            {"reason", reason},
                            {"message", message}});
}

template <class T>
testing::AssertionResult failed_as(const Outcome<T>& outcome, FailureReason reason,
                                   std::string_view word = "") {
  if (outcome) return testing::AssertionFailure() << "no failure";
  const Failure& failure = outcome.error();
  if (failure.reason != reason) {
    return testing::AssertionFailure() << name(failure.reason) << ": " << failure.message;
  }
  if (failure.message.find(word) == std::string::npos) {
    return testing::AssertionFailure() << "no " << word << " in: " << failure.message;
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult is_change(const Outcome<bool>& outcome, bool wanted) {
  if (!outcome) return testing::AssertionFailure() << outcome.error().message;
  if (*outcome == wanted) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (*outcome ? "a change" : "no change");
}

}  // namespace ringside::k8s
