#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "k8s/access.h"

namespace ringside::k8s {

// Where a pod finds its account's token, ca.crt and namespace.
inline constexpr const char* service_account_folder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// The value of an environment's variable; empty where it is not set.
using Environment = std::function<std::string(const char* name)>;

// How a pod reaches its API server, by the environment and the files that the kubelet gave it
// (Kubernetes, "Accessing the Kubernetes API from a Pod"). Token and CA are named, to be read with
// each request; here it is only looked whether they are there. An Error says that this is no pod
// with a service account, and what to do.
[[nodiscard]] Result<Access> service_account_access(const Environment& environment,
                                                    const std::string& folder);

// The namespace that the pod runs in.
[[nodiscard]] Result<std::string> service_account_namespace(const std::string& folder);

// A small file whole: a token, certificates. `what` is for the message; no more than
// limits::service_account_size_bytes.
[[nodiscard]] Result<std::string> read_credential(const std::string& path, std::string_view what);

}  // namespace ringside::k8s
