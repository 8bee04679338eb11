#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "k8s/failure.h"

namespace ringside::k8s {

// What was asked, for messages that say which right is missing.
struct Question {
  std::string verb;      // list, watch, get, patch
  std::string resource;  // statefulsets.apps, endpointslices.discovery.k8s.io
  std::string name_space;
  // That the account needs a Role with.
  std::string_view rights =
      "the verbs get, list and watch on it, as k8s/base/service-account.yaml has it";
};

// What an HTTP answer other than 200 means: its status, its Retry-After (empty: none) and its body,
// which may be a Status object or anything else. A 403 names verb, resource and namespace, and the
// Role that is missing; a 401 whose token it was.
[[nodiscard]] Failure failure_of(int status, std::string_view retry_after, std::string_view body,
                                 const Question& question, std::string_view access_origin);

// The version of discovery.k8s.io to ask for: what the group's document prefers if we know it (v1,
// v1beta1), else the best that it has and we know.
[[nodiscard]] Outcome<std::string> endpoint_slice_version(std::string_view group_document);

}  // namespace ringside::k8s
