#include "geo/country_database.h"

#include <gtest/gtest.h>
#include <maxminddb.h>
#include <netinet/in.h>

#include <cstring>
#include <filesystem>

#include "tests/geo/some_database.h"

namespace ringside::geo {
namespace {

using support::MmdbOptions;
using support::MmdbSchema;
using support::TemporaryFile;

std::vector<MmdbOptions> layouts() {
  std::vector<MmdbOptions> all;
  for (const unsigned record_bits : {24U, 28U, 32U}) {
    for (const MmdbSchema schema : {MmdbSchema::nested, MmdbSchema::flat}) {
      for (const bool alias_v4 : {false, true}) {
        MmdbOptions options;
        options.record_bits = record_bits;
        options.schema = schema;
        options.alias_v4 = alias_v4;
        all.push_back(options);
      }
    }
  }
  return all;
}

TEST(CountryDatabase, FindsTheCountryOfTheLongestPrefix) {
  struct Case {
    std::string_view address;
    std::string_view country;
    unsigned prefix_bits;
  };
  const Case cases[] = {
      {"2.125.160.216", "GB", 125}, {"2.125.160.223", "GB", 125},  {"2.125.160.224", "FR", 123},
      {"2.0.0.1", "FR", 106},       {"::ffff:8.8.8.8", "DE", 128}, {"8.8.8.9", "CH", 128},
      {"8.8.9.0", "US", 120},       {"89.160.20.112", "SE", 124},  {"89.160.20.111", "ZZ", 124},
      {"128.200.0.1", "CN", 104},  // two /9 that answer alike are one /8
      {"2001:218::1", "JP", 32},    {"2001:219::1", "AU", 32},     {"2a02:8:0:1::7", "BE", 128},
      {"2a02:8:0:1::6", "NL", 128}, {"3000::1", "ZZ", 4},
  };
  for (const MmdbOptions& options : layouts()) {
    const auto database = opened(some_countries(), options);
    ASSERT_TRUE(database);
    for (const Case& c : cases) {
      const auto found = database->find(address_of(c.address));
      EXPECT_EQ(found.country.code(), c.country) << c.address;
      EXPECT_EQ(found.prefix_bits, c.prefix_bits) << c.address;
    }
  }
}

TEST(CountryDatabase, SpecialAddressesAreUnknownWhateverTheFileSays) {
  const auto database = opened({{"0.0.0.0/0", "US"}, {"8000::/1", "DE"}, {"2000::/3", "FR"}});
  ASSERT_TRUE(database);
  for (const auto* special : {"10.1.2.3", "127.0.0.1", "192.168.1.1", "100.64.0.1", "224.0.0.1",
                              "fd00::1", "fe80::1", "2001:db8::1", "::1", "::", "::8.8.8.8"}) {
    EXPECT_EQ(database->find(address_of(special)).country.code(), "ZZ") << special;
  }
  EXPECT_EQ(database->find(address_of("11.0.0.0")).country.code(), "US");
  EXPECT_EQ(database->find(address_of("2001:db9::1")).country.code(), "FR");
  EXPECT_EQ(database->find(address_of("f000::1")).country.code(), "DE");
  // 11.0.0.0/8 is the largest block that 10.0.0.0/8 leaves of 8.0.0.0/6 there.
  EXPECT_EQ(database->find(address_of("11.0.0.0")).prefix_bits, 104U);
}

TEST(CountryDatabase, AnIpv4FileKnowsNoIpv6) {
  MmdbOptions options;
  options.ip_version = 4;
  for (const unsigned record_bits : {24U, 28U, 32U}) {
    options.record_bits = record_bits;
    const auto database = opened(some_v4_countries(), options);
    ASSERT_TRUE(database);
    EXPECT_EQ(database->find(address_of("8.8.8.8")).country.code(), "DE");
    EXPECT_EQ(database->find(address_of("2.125.160.217")).prefix_bits, 125U);
    for (const auto* v6 : {"2001:218::1", "::8.8.8.8", "808:808::", "ffff::1"}) {
      const auto found = database->find(address_of(v6));
      EXPECT_EQ(found.country.code(), "ZZ") << v6;
      EXPECT_FALSE(
          Network::around(address_of(v6), found.prefix_bits).contains(address_of("8.8.8.8")));
    }
  }
}

TEST(CountryDatabase, OneCountryForAllOfIpv4IsFoundAboveItsTree) {
  const auto database = opened({{"::/2", "US"}});
  ASSERT_TRUE(database);
  EXPECT_EQ(database->find(address_of("8.8.8.8")).country.code(), "US");
  EXPECT_EQ(database->find(address_of("10.8.8.8")).country.code(), "ZZ");
  EXPECT_EQ(database->find(address_of("4000::1")).country.code(), "ZZ");
}

TEST(CountryDatabase, CodesThatAreNoneAreUnknown) {
  const auto database =
      opened({{"2.0.0.0/8", "FRA"}, {"3.0.0.0/8", ""}, {"4.0.0.0/8", "f1"}, {"5.0.0.0/8", "fr"}});
  ASSERT_TRUE(database);
  EXPECT_FALSE(database->find(address_of("2.1.1.1")).country.known());
  EXPECT_FALSE(database->find(address_of("3.1.1.1")).country.known());
  EXPECT_FALSE(database->find(address_of("4.1.1.1")).country.known());
  EXPECT_EQ(database->find(address_of("5.1.1.1")).country.code(), "FR");
}

// Every address of the prefix that a look-up claims must get that look-up's answer.
TEST(CountryDatabase, PrefixesAnswerAlike) {
  for (const MmdbOptions& options : {MmdbOptions{}, layouts().back()}) {
    const auto database = opened(some_countries(), options);
    ASSERT_TRUE(database);
    AddressSource addresses;
    for (int i = 0; i < 3000; ++i) {
      const IpAddress address = addresses.next();
      const auto found = database->find(address);
      const Network prefix = Network::around(address, found.prefix_bits);
      for (unsigned bit = found.prefix_bits; bit < 128; ++bit) {
        auto bytes = address.bytes();
        bytes[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
        const auto other = database->find(IpAddress(bytes));
        EXPECT_EQ(other.country, found.country) << IpAddress(bytes).text() << prefix.text();
        EXPECT_EQ(other.prefix_bits, found.prefix_bits);
      }
    }
  }
}

// What libmaxminddb itself finds in the file; special addresses left out.
class Oracle {
 public:
  explicit Oracle(const std::string& path) {
    EXPECT_EQ(::MMDB_open(path.c_str(), MMDB_MODE_MMAP, &mmdb_), MMDB_SUCCESS);
  }
  ~Oracle() { ::MMDB_close(&mmdb_); }
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  Country find(const IpAddress& address) {
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    v4.sin_family = AF_INET;
    v6.sin6_family = AF_INET6;
    std::memcpy(&v4.sin_addr, address.bytes().data() + 12, 4);
    std::memcpy(&v6.sin6_addr, address.bytes().data(), 16);
    int status = MMDB_SUCCESS;
    auto result = ::MMDB_lookup_sockaddr(&mmdb_,
                                         address.is_v4() ? reinterpret_cast<const sockaddr*>(&v4)
                                                         : reinterpret_cast<const sockaddr*>(&v6),
                                         &status);
    EXPECT_EQ(status, MMDB_SUCCESS);
    if (!result.found_entry) return Country{};
    MMDB_entry_data_s data{};
    const char* const nested[] = {"country", "iso_code", nullptr};
    const char* const flat[] = {"country_code", nullptr};
    if (::MMDB_aget_value(&result.entry, &data, nested) != MMDB_SUCCESS &&
        ::MMDB_aget_value(&result.entry, &data, flat) != MMDB_SUCCESS) {
      return Country{};
    }
    return Country::from({data.utf8_string, data.data_size});
  }

 private:
  MMDB_s mmdb_{};
};

TEST(CountryDatabase, FindsWhatLibmaxminddbFinds) {
  for (const MmdbOptions& options : layouts()) {
    const TemporaryFile file(support::mmdb(some_countries(), options));
    const auto database = CountryDatabase::open(file.path());
    ASSERT_TRUE(database) << database.error().message;
    Oracle oracle(file.path());
    AddressSource addresses;
    int known = 0;
    for (int i = 0; i < 5000; ++i) {
      const IpAddress address = addresses.next();
      if (address.is_special()) continue;
      const Country country = (*database)->find(address).country;
      EXPECT_EQ(country, oracle.find(address)) << address.text();
      known += country.known() ? 1 : 0;
    }
    EXPECT_GT(known, 1000);
    if (options.alias_v4) {
      EXPECT_EQ((*database)->find(address_of("2002:808:808::")).country.code(), "DE");
    }
  }
}

TEST(CountryDatabase, DescribesItself) {
  MmdbOptions options;
  options.type = "Made-Country";
  EXPECT_EQ(opened(some_countries(), options)->description(),
            "Made-Country of 2023-11-14, IPv4 and IPv6");
  options.ip_version = 4;
  options.build_epoch = ~0ULL;
  EXPECT_EQ(opened(some_v4_countries(), options)->description(),
            "Made-Country of 9999-12-31, IPv4 only");
  EXPECT_GT(opened(some_countries())->size_bytes(), 0U);
}

// A file that is mapped and then cut ends the process with SIGBUS.
TEST(CountryDatabase, OutlivesItsFile) {
  const TemporaryFile file(support::mmdb(some_countries()));
  const auto database = CountryDatabase::open(file.path());
  ASSERT_TRUE(database);
  file.write("");
  EXPECT_EQ((*database)->find(address_of("8.8.8.8")).country.code(), "DE");
  EXPECT_EQ((*database)->path(), file.path());
  std::filesystem::remove(file.path());
  EXPECT_EQ((*database)->find(address_of("2001:218::1")).country.code(), "JP");
}

// MaxMind's own test databases lie beside the project in the workshop, not in it.
TEST(CountryDatabase, ReadsMaxMindsTestDatabases) {
  const std::filesystem::path folder = std::filesystem::path(RINGSIDE_SOURCE_DIR) / "../shared/geo";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "left out: " << folder << " with MaxMind's test databases is not there";
  }
  for (const auto* name : {"GeoIP2-Country-Test.mmdb", "GeoLite2-Country-Test.mmdb"}) {
    const auto database = CountryDatabase::open((folder / name).string());
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_EQ((*database)->find(address_of("2.125.160.216")).country.code(), "GB");
    EXPECT_EQ((*database)->find(address_of("89.160.20.112")).country.code(), "SE");
    EXPECT_EQ((*database)->find(address_of("2001:218::1")).country.code(), "JP");
    EXPECT_EQ((*database)->find(address_of("192.168.1.1")).country.code(), "ZZ");
  }
}

}  // namespace
}  // namespace ringside::geo
