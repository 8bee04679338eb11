#include "program/countries.h"

#include <fmt/format.h>

#include "base/log.h"
#include "program/shared_file.h"

namespace ringside::program {

std::string country_file(const Configuration& configuration) {
  return configuration.geo.empty() ? shared_file("country.mmdb") : configuration.geo;
}

Configuration with_country_file(Command command, Configuration configuration) {
  if (command != Command::cache) configuration.geo = country_file(configuration);
  return configuration;
}

Result<Countries> open_countries(const Configuration& configuration) {
  const std::string file = country_file(configuration);
  if (file.empty()) {
    if (!uses_country(configuration)) return Countries{};
    return invalid_input(fmt::format(
        "{}: a shard key uses the country, but no country database is given or installed; give "
        "--geo FILE (scripts/demo fetches one), or --geo-optional to have every country be ZZ",
        configuration.place("geo")));
  }
  auto opened = geo::CountryDatabase::open(file);
  if (!opened) {
    return invalid_input(fmt::format("{}: {}", configuration.place("geo"), opened.error().message));
  }
  return *std::move(opened);
}

Result<Countries> open_countries_at_start(const Configuration& configuration) {
  auto opened = open_countries(configuration);
  if (opened || !configuration.geo_optional) return opened;
  log::warning("{}; going on without: every country is ZZ", opened.error().message);
  return Countries{};
}

}  // namespace ringside::program
