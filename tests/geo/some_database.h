#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/address.h"
#include "geo/country_database.h"
#include "tests/support/mmdb_writer.h"

namespace ringside::geo {

// Prefixes of all lengths, nested ones, single addresses, and neighbours that answer alike.
inline std::vector<support::MmdbCountry> some_v4_countries() {
  return {{"2.0.0.0/8", "FR"},        {"2.125.160.216/29", "GB"}, {"8.0.0.0/6", "US"},
          {"8.8.8.0/24", "CH"},       {"8.8.8.8/32", "DE"},       {"81.2.69.160/27", "GB"},
          {"89.160.20.112/28", "SE"}, {"160.0.0.0/4", "BR"},      {"192.0.0.0/3", "JP"},
          {"128.0.0.0/9", "CN"},      {"128.128.0.0/9", "CN"},    {"175.16.199.37/32", "CN"}};
}
inline std::vector<support::MmdbCountry> some_countries() {
  auto all = some_v4_countries();
  all.insert(all.end(), {{"2001:218::/32", "JP"},
                         {"2001:200::/23", "AU"},
                         {"2a02::/16", "DE"},
                         {"2a02:8::/32", "NL"},
                         {"2a02:8:0:1::7/128", "BE"},
                         {"c000::/3", "US"}});
  return all;
}

// Made, opened and deleted again.
inline std::shared_ptr<const CountryDatabase> opened(
    const std::vector<support::MmdbCountry>& countries, const support::MmdbOptions& options = {}) {
  const support::TemporaryFile file(support::mmdb(countries, options));
  auto database = CountryDatabase::open(file.path());
  if (!database) ADD_FAILURE() << database.error().message;
  return database ? *database : nullptr;
}

inline IpAddress address_of(std::string_view text) { return IpAddress::parse(text).value(); }

// Random addresses, most of them near the edges of the networks above.
class AddressSource {
 public:
  IpAddress next() {
    static const auto networks = some_countries();
    const auto& chosen = networks[random_() % networks.size()];
    auto bytes = Network::parse(chosen.network).value().base().bytes();
    const bool is_v4 = IpAddress(bytes).is_v4();
    // Noise behind a random bit leaves the address somewhere close.
    for (std::size_t bit = (is_v4 ? 96 : 0) + random_() % 32; bit < 128; ++bit) {
      if (random_() % 3 == 0) bytes[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
    }
    return IpAddress(bytes);
  }

 private:
  std::mt19937 random_{20240601};
};

}  // namespace ringside::geo
