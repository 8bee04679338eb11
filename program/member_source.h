#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "k8s/config_map.h"
#include "k8s/dns_target.h"
#include "k8s/target.h"

// How the places that members come from are written: the values of `--kubernetes` and `--dns`.
namespace ringside::program {

// `[NAMESPACE/]STATEFULSET[:PORT]`; without a namespace: the pod's own. Names as Kubernetes has
// them (RFC 1123 labels and subdomains), a port by its name (RFC 6335 §5.1) or number.
[[nodiscard]] Result<k8s::Target> parse_kubernetes_target(std::string_view text);
[[nodiscard]] std::string target_text(const k8s::Target& target);

// `[NAMESPACE/]NAME`; without a namespace: the pod's own.
[[nodiscard]] Result<k8s::ConfigMapName> parse_config_map_name(std::string_view text);

// `NAME[:PORT]`
[[nodiscard]] Result<k8s::DnsTarget> parse_dns_target(std::string_view text);
[[nodiscard]] std::string target_text(const k8s::DnsTarget& target);

}  // namespace ringside::program
