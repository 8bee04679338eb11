#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "k8s/access.h"
#include "k8s/discovery.h"
#include "metrics/exposition.h"
#include "program/configuration.h"
#include "program/service.h"

namespace ringside::program {

// How the API server that the configuration means is reached: by the kubeconfig, else by the pod's
// service account. `name_space` becomes the one of either where it is empty. An Error names the
// option that needs it.
[[nodiscard]] Result<k8s::Access> kubernetes_access(const Configuration& configuration,
                                                    std::string_view option,
                                                    std::string& name_space);

// Watches the source of the members, where the configuration has one, and has the service follow
// it; null where the members are listed. Service and clock must outlive it. What the service
// refuses is logged, and the members stay.
[[nodiscard]] Result<std::unique_ptr<k8s::Discovery>> start_discovery(
    const Configuration& configuration, Service& service, const Clock& clock);

// The line of /readyz: what is known, or what is wrong and since when.
[[nodiscard]] std::string discovery_line(std::string_view source,
                                         const k8s::DiscoveryFigures& figures, TimePoint now);
[[nodiscard]] metrics::OperationFigures::Discovery discovery_figures(
    const k8s::DiscoveryFigures& figures, const Membership& membership);

}  // namespace ringside::program
