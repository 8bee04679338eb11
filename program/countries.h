#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "geo/country_database.h"
#include "program/configuration.h"

namespace ringside::program {

using Countries = std::shared_ptr<const geo::CountryDatabase>;

// The database to open: what is configured, else `share/ringside/country.mmdb` beside the program's
// folder or one above (an installed tree). Empty: neither is there.
[[nodiscard]] std::string country_file(const Configuration& configuration);

// As it is in effect, to be shown: with the database that was found where none is named.
[[nodiscard]] Configuration with_country_file(Command command, Configuration configuration);

// Opens it. Null where no route uses countries and none was named. An Error names the remedy.
[[nodiscard]] Result<Countries> open_countries(const Configuration& configuration);

// The same at start: with `geo_optional` what can't be opened is a warning and null.
[[nodiscard]] Result<Countries> open_countries_at_start(const Configuration& configuration);

}  // namespace ringside::program
