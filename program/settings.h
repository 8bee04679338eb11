#pragma once

#include <memory>
#include <utility>

#include "base/error.h"
#include "cache/settings.h"
#include "geo/country_database.h"
#include "hop/half.h"
#include "net/tls.h"
#include "program/configuration.h"
#include "program/membership.h"
#include "sidecar/settings.h"

namespace ringside::program {

// How one of `halves` is put into this process.
[[nodiscard]] hop::Setup make_setup(const Configuration& configuration, const Endpoint& listen,
                                    std::size_t cores, hop::AccessLog* access_log,
                                    std::size_t halves = 1);

using OriginTlsPointer = std::shared_ptr<const net::TlsContext>;
// What https:// origins are checked with; null where no origin is one: then nobody needs the file.
[[nodiscard]] Result<OriginTlsPointer> load_origin_tls(const Configuration& configuration);

// What the components are given, made from a checked configuration, the membership in use and the
// country database (null: every country is ZZ). Pure; a reload builds anew and publishes whole.
[[nodiscard]] Result<std::shared_ptr<const sidecar::Settings>> make_sidecar_settings(
    const Configuration& configuration, MembershipPointer membership,
    std::shared_ptr<const geo::CountryDatabase> countries);

// Every route needs an origin, its own or the configuration's.
[[nodiscard]] Result<std::shared_ptr<const cache::Settings>> make_cache_settings(
    const Configuration& configuration, MembershipPointer membership);

// The same settings, of either half, for other members: what can't fail, whatever became of the
// files that the configuration names.
template <class Settings>
[[nodiscard]] std::shared_ptr<const Settings> with_members(const Settings& settings,
                                                           MembershipPointer membership) {
  auto out = std::make_shared<Settings>(settings);
  out->membership = std::move(membership);
  return out;
}

}  // namespace ringside::program
