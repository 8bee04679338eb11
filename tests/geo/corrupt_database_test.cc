#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "geo/country_database.h"
#include "tests/geo/some_database.h"

namespace ringside::geo {
namespace {

using support::MmdbOptions;
using support::MmdbSchema;
using support::TemporaryFile;
using testing::AllOf;
using testing::HasSubstr;

// The message with which a file of that content is refused; empty where it is not.
std::string refusal_of(const TemporaryFile& file) {
  const auto database = CountryDatabase::open(file.path());
  if (database) return {};
  EXPECT_EQ(database.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(database.error().message,
              AllOf(HasSubstr("geo database " + file.path() + ": "),
                    HasSubstr("or give --geo-optional to run with country ZZ")));
  return database.error().message;
}
std::string refusal_of(std::string_view content) { return refusal_of(TemporaryFile(content)); }

std::string replaced(std::string content, std::size_t at, std::string_view bytes) {
  return content.replace(at, bytes.size(), bytes);
}

TEST(CorruptDatabase, PathsToNoFileAreRefused) {
  const std::string missing = ::testing::TempDir() + "ringside-no-such-file.mmdb";
  EXPECT_THAT(CountryDatabase::open(missing).error().message,
              AllOf(HasSubstr(missing), HasSubstr("No such file"), HasSubstr("check the path")));
  EXPECT_THAT(CountryDatabase::open("").error().message, HasSubstr("No such file"));
  EXPECT_THAT(CountryDatabase::open(::testing::TempDir()).error().message,
              AllOf(HasSubstr("is a directory"), HasSubstr("name the .mmdb file itself")));
  EXPECT_THAT(CountryDatabase::open("/dev/zero").error().message, HasSubstr("is no regular file"));
}

TEST(CorruptDatabase, ANamedPipeIsNotWaitedFor) {
  const TemporaryFile place("");
  std::filesystem::remove(place.path());
  ASSERT_EQ(::mkfifo(place.path().c_str(), 0600), 0);
  EXPECT_THAT(refusal_of(place), HasSubstr("is no regular file"));
}

TEST(CorruptDatabase, ForeignContentIsRefused) {
  EXPECT_THAT(refusal_of(""), HasSubstr("file is empty; download it again"));
  for (const std::string& content :
       {std::string("x"), std::string("<html>404</html>"), std::string(70'000, '\0'),
        std::string(300'000, '\xff'), std::string("\xab\xcd\xefMaxMind.co")}) {
    EXPECT_THAT(refusal_of(content), HasSubstr("truncated or not a MaxMind database"));
  }
}

TEST(CorruptDatabase, EveryTruncationIsRefused) {
  const std::string whole = support::mmdb(some_countries());
  ASSERT_EQ(refusal_of(whole), "");
  const std::size_t metadata = support::layout(whole).metadata;
  for (std::size_t size = 0; size < whole.size(); size += size < metadata - 300 ? 97 : 1) {
    EXPECT_NE(refusal_of(whole.substr(0, size)), "") << size;
  }
}

TEST(CorruptDatabase, ATreeThatMissesAPieceIsRefused) {
  const std::string whole = support::mmdb(some_countries());
  const std::size_t tree_size = support::layout(whole).data - 16;
  for (const std::size_t missing : {1U, 7U, 16U, 700U}) {
    for (std::size_t at = 0; at + missing < tree_size; at += 501) {
      std::string cut = whole;
      cut.erase(at, missing);
      EXPECT_THAT(refusal_of(cut), HasSubstr("corrupt")) << at << " " << missing;
    }
  }
}

// The library reads behind a metadata section of no bytes; here that would be the next page.
TEST(CorruptDatabase, MetadataThatEndsWithItsMarkerIsRefused) {
  const std::string_view marker = "\xab\xcd\xefMaxMind.com";
  for (const std::size_t size : {4096U, 65536U}) {
    const std::string content = std::string(size - marker.size(), '\0') + std::string(marker);
    EXPECT_THAT(refusal_of(content), HasSubstr("corrupt in its metadata"));
    EXPECT_THAT(refusal_of(content.substr(1) + '\xe0'), HasSubstr("not a MaxMind database"));
  }
}

TEST(CorruptDatabase, ANodeCountThatOverflowsIsRefused) {
  MmdbOptions options;
  options.record_bits = 32;
  const std::string whole = support::mmdb(some_countries(), options);
  const std::size_t count = whole.find("node_count") + 11;
  using namespace std::string_view_literals;
  // Times 8 bytes, the second and third are 0 and 8 in 32 bits.
  for (const auto bytes :
       {"\xff\xff\xff\xff"sv, "\x20\0\0\0"sv, "\x20\0\0\1"sv, "\0\0\0\0"sv, "\0\0\0\1"sv}) {
    EXPECT_NE(refusal_of(replaced(whole, count, bytes)), "");
  }
}

TEST(CorruptDatabase, TreeRecordsThatPointWrongAreRefused) {
  MmdbOptions options;
  options.record_bits = 24;
  const std::string whole = support::mmdb(some_countries(), options);
  const auto parts = support::layout(whole, options);
  const std::size_t nodes = (parts.data - 16) / 6;
  const auto right_of_root = [&](std::size_t value) {
    const std::string bytes{static_cast<char>(value >> 16), static_cast<char>(value >> 8),
                            static_cast<char>(value)};
    return refusal_of(replaced(whole, 3, bytes));
  };
  EXPECT_THAT(right_of_root(0), HasSubstr("search tree"));          // a loop
  EXPECT_EQ(right_of_root(nodes), "");                              // nothing known
  EXPECT_THAT(right_of_root(nodes + 1), HasSubstr("search tree"));  // into the separator
  EXPECT_THAT(right_of_root(nodes + 15), HasSubstr("search tree"));
  EXPECT_THAT(right_of_root(nodes + 16), HasSubstr("search tree"));  // the key before the records
  const std::size_t behind_data = nodes + 16 + parts.metadata - 14 - parts.data;
  EXPECT_THAT(right_of_root(behind_data), HasSubstr("search tree"));       // the marker
  EXPECT_THAT(right_of_root(behind_data + 14), HasSubstr("search tree"));  // the metadata
  EXPECT_THAT(right_of_root(0xffffff), HasSubstr("search tree"));
}

std::string string_field(std::string_view text) {
  return static_cast<char>(0x40 | text.size()) + std::string(text);
}

// The library recurses for each level, and a file needs two bytes for one.
TEST(CorruptDatabase, DeepNestingIsRefusedAndEndsNoStack) {
  const std::string country = string_field("country_code") + string_field("DE");
  for (const std::size_t levels : {20U, 200U, 300'000U}) {
    MmdbOptions options;
    options.record = "\xe2" + string_field("x");
    for (std::size_t i = 0; i < levels; ++i) options.record += "\x01\x04";  // an array of one
    options.record += string_field("end") + country;
    const std::string refusal = refusal_of(support::mmdb({{"2.0.0.0/8", "DE"}}, options));
    EXPECT_EQ(refusal.empty(), levels < 32) << levels;
  }
}

TEST(CorruptDatabase, UnsoundRecordsAreRefused) {
  using namespace std::string_literals;
  const std::string country = string_field("country_code") + string_field("DE");
  struct Case {
    std::string record;
    bool is_sound;
  };
  const Case cases[] = {
      {"\xe1" + country, true},
      {"\xe2" + country + string_field("a") + "\xa2\1\2", true},  // uint16
      {"\xe2" + country + string_field("a") + "\1\7", true},      // a boolean
      {"\xe2" + country + string_field("a") + "\x68" + "12345678", true},
      {"\xe2" + country + string_field("a") + "\xa3\1\2\3", false},        // a uint16 of 3 bytes
      {"\xe2" + country + string_field("a") + "\x67" + "1234567", false},  // a double of 7
      {"\xe2" + country + string_field("a") + "\0\5"s, false},             // a type there is not
      {"\xe2" + country + string_field("a") + "\x20\0"s, false},           // a pointer to itself
      {"\xe2" + country + string_field("a") + "\x27\xff", false},          // and to nowhere
      {"\xe2" + country + "\xa1\1" + "\xa1\1", false},                     // a key that is a number
      {"\xff\xff\xff\xff" + country, false},                               // 16 million members
      {string_field("DE"), false},                                         // no map
      {"\x5f\xff\xff\xff" + country, false},                               // a string without end
  };
  for (const Case& c : cases) {
    MmdbOptions options;
    options.schema = MmdbSchema::flat;
    options.record = c.record;
    const std::string refusal = refusal_of(support::mmdb({{"2.0.0.0/8", "DE"}}, options));
    EXPECT_EQ(refusal.empty(), c.is_sound) << ::testing::PrintToString(c.record) << refusal;
  }
}

TEST(CorruptDatabase, FilesWithoutCountriesAreRefused) {
  MmdbOptions options;
  options.schema = MmdbSchema::no_code;
  options.type = "Made-ASN";
  EXPECT_THAT(refusal_of(support::mmdb(some_countries(), options)),
              AllOf(HasSubstr("country.iso_code or country_code"), HasSubstr("\"Made-ASN\""),
                    HasSubstr("give a country database")));
  EXPECT_THAT(refusal_of(support::mmdb({})), HasSubstr("country.iso_code or country_code"));
}

// Whatever is damaged, the file is refused or every look-up has an answer.
TEST(CorruptDatabase, NoDamageEndsTheProcess) {
  AddressSource source;
  std::vector<IpAddress> addresses;
  addresses.reserve(50);
  for (int i = 0; i < 50; ++i) addresses.push_back(source.next());
  std::size_t refused = 0;
  std::size_t taken = 0;
  const auto damage = [&](std::string content, std::size_t at, unsigned mask) {
    content[at] = static_cast<char>(static_cast<unsigned char>(content[at]) ^ mask);
    const TemporaryFile file(content);
    const auto database = CountryDatabase::open(file.path());
    ++(database ? taken : refused);
    for (std::size_t i = 0; database && i < addresses.size(); ++i) {
      EXPECT_LE((*database)->find(addresses[i]).prefix_bits, 128U);
    }
  };
  for (const unsigned record_bits : {24U, 28U}) {
    MmdbOptions options;
    options.record_bits = record_bits;
    options.alias_v4 = record_bits == 24;
    const std::string whole = support::mmdb(some_countries(), options);
    const std::size_t data = support::layout(whole, options).data;
    for (std::size_t at = 0; at < whole.size(); at += at < data ? 31 : 1) {
      for (const unsigned mask : {0x01U, 0x20U, 0x80U, 0xffU}) damage(whole, at, mask);
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(taken, 1000U);
}

}  // namespace
}  // namespace ringside::geo
