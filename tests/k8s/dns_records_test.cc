#include "k8s/dns_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace ringside::k8s {
namespace {

using std::string_literals::operator""s;  // NOLINT(misc-unused-using-decls): it does not see it

std::string u16(unsigned value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value & 0xffU)};
}
std::string u32(std::uint32_t value) { return u16(value >> 16U) + u16(value & 0xffffU); }

const std::string question_name = "\5_http\4_tcp\4Tier\4test\0"s;
const std::string to_question = u16(0xc00c);      // a pointer to all of it
const std::string to_tier = u16(0xc00c + 6 + 5);  // to tier.test

std::string record(const std::string& owner, unsigned type, std::uint32_t ttl_s,
                   const std::string& data) {
  return owner + u16(type) + u16(1) + u32(ttl_s) + u16(static_cast<unsigned>(data.size())) + data;
}
std::string srv(const std::string& target, unsigned port, std::uint32_t ttl_s = 30) {
  return record(to_question, 33, ttl_s, u16(0) + u16(50) + u16(port) + target);
}
std::string a(const std::string& owner, const std::string& bytes, std::uint32_t ttl_s = 30) {
  return record(owner, 1, ttl_s, bytes);
}

struct Sections {
  std::vector<std::string> answers;
  std::vector<std::string> authorities;
  std::vector<std::string> additional;
  unsigned flags = 0x8180;
};

std::string message(const Sections& sections) {
  const auto count = [](const auto& records) { return u16(static_cast<unsigned>(records.size())); };
  std::string bytes = u16(7) + u16(sections.flags) + u16(1) + count(sections.answers) +
                      count(sections.authorities) + count(sections.additional) + question_name +
                      u16(33) + u16(1);
  for (const auto* section : {&sections.answers, &sections.authorities, &sections.additional}) {
    for (const std::string& each : *section) bytes += each;
  }
  return bytes;
}

Outcome<DnsRecords> read(std::string_view bytes) {
  return read_dns_records({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

IpAddress address(std::string_view text) { return *IpAddress::parse(text); }

const std::string opt_record = "\0"s + u16(41) + u16(1232) + u32(0) + u16(0);

const Sections whole{
    {srv("\7cache-0" + to_tier, 8080, 30), srv("\7CACHE-1" + to_tier, 8081, 20)},
    {record(to_tier, 6, 1, "\0\0"s + std::string(20, '\1'))},
    {a("\7cache-0" + to_tier, "\x0a\1\2\3", 25),
     record("\7cache-1" + to_tier, 28, 40, "\xfd" + std::string(14, '\0') + "\1"), opt_record}};

TEST(DnsRecords, ServicesComeWithTheirAddresses) {
  const auto records = read(message(whole));
  ASSERT_TRUE(records) << records.error().message;
  const DnsRecords expected{
      {{"cache-0.tier.test", 8080}, {"cache-1.tier.test", 8081}},
      {},
      {{"cache-0.tier.test", address("10.1.2.3")}, {"cache-1.tier.test", address("fd00::1")}},
      Seconds{20}};  // neither the authority's nor what EDNS has in that place
  EXPECT_EQ(*records, expected);
}

TEST(DnsRecords, AnAliasIsFollowedByItsAddresses) {
  const auto records =
      read(message({{record(to_question, 5, 3, "\5other" + to_tier),
                     a("\5other" + to_tier, "\x0a\0\0\1"s), a("\5other" + to_tier, "\x0a\0\0\2"s)},
                    {},
                    {}}));
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(records->addresses.size(), 2U);
  EXPECT_EQ(records->addresses[1], (AddressRecord{"other.tier.test", address("10.0.0.2")}));
  EXPECT_EQ(records->ttl, Seconds{3});
}

TEST(DnsRecords, ATimeToLiveBeyondAllReasonIsNone) {
  const auto records = read(message({{srv("\7cache-0" + to_tier, 80, 0x80000000)}, {}, {}}));
  ASSERT_TRUE(records);
  EXPECT_EQ(records->ttl, Seconds{0});
}

TEST(DnsRecords, OtherTypesAndClassesArePassedOver) {
  const std::string chaos = to_question + u16(1) + u16(3) + u32(1) + u16(1) + "x";
  const auto records = read(message({{chaos, record(to_question, 16, 5, "\4text")}, {}, {}}));
  ASSERT_TRUE(records) << records.error().message;
  EXPECT_EQ(*records, DnsRecords{});
}

TEST(DnsRecords, WhatEndsTooSoonIsMalformedWhereverItEnds) {
  const std::string bytes = message(whole);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto records = read(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(records) << size;
    EXPECT_EQ(records.error().reason, FailureReason::malformed) << size;
  }
}

TEST(DnsRecords, WhatMakesNoSenseIsMalformed) {
  const std::string itself = u16(0xc000 + 12 + static_cast<unsigned>(question_name.size()) + 4);
  struct Case {
    std::string what;
    Sections sections;
  };
  const std::vector<Case> cases{
      {"an address of five bytes", {{a(to_question, "12345")}, {}, {}}},
      {"an IPv6 address of four", {{record(to_question, 28, 1, "1234")}, {}, {}}},
      {"a service without a target", {{record(to_question, 33, 1, "\0\0\0\0\0\x50"s)}, {}, {}}},
      {"a target that ends early", {{srv("\7cache-0" + to_tier + "\0\0"s, 80)}, {}, {}}},
      {"a target that goes on", {{record(to_question, 33, 1, "\0\0\0\0\0\x50\7cach"s)}, {}, {}}},
      {"a name that leads to itself", {{a(itself, "1234")}, {}, {}}},
      {"a name that leads nowhere", {{a(u16(0xffff), "1234")}, {}, {}}},
      {"half of the records", {whole.answers, {}, {}, 0x8180 | 0x200}},
  };
  for (const Case& one : cases) {
    const auto records = read(message(one.sections));
    ASSERT_FALSE(records) << one.what;
    EXPECT_EQ(records.error().reason, FailureReason::malformed) << one.what;
  }
}

TEST(DnsRecords, NoMoreThanATierHasMembers) {
  Sections many;
  many.answers.assign(limits::members, srv("\1x" + to_tier, 80));
  EXPECT_TRUE(read(message(many)));
  many.answers.push_back(many.answers.front());
  const auto records = read(message(many));
  ASSERT_FALSE(records);
  EXPECT_THAT(records.error().message, testing::HasSubstr("more than 1024 records"));
}

}  // namespace
}  // namespace ringside::k8s
