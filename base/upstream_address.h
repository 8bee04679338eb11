#pragma once

#include <compare>

#include "base/address.h"

namespace ringside {

// Where an upstream is reached, and whether under TLS (then its host is the name that its
// certificate must have). What connections are pooled by.
struct UpstreamAddress {
  Endpoint endpoint;
  bool tls = false;

  UpstreamAddress() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a replica is an endpoint and nothing more
  UpstreamAddress(Endpoint where, bool under_tls = false)
      : endpoint(std::move(where)), tls(under_tls) {}

  [[nodiscard]] friend auto operator<=>(const UpstreamAddress&, const UpstreamAddress&) = default;
};

}  // namespace ringside
