#include "program/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;

TEST(Values, Durations) {
  struct Case {
    std::string text;
    std::int64_t expected_ms;  // -1: refused
  };
  const std::vector<Case> cases{
      {"250ms", 250},        {"10s", 10'000}, {"1m", 60'000}, {"2h", 7'200'000},
      {"24h", 86'400'000},   {"1", -1},       {"s", -1},      {"", -1},
      {"-1s", -1},           {"1.5s", -1},    {"1 s", -1},    {"0s", -1},
      {"25h", -1},           {"10sec", -1},   {"1S", -1},     {"99999999999999999999s", -1},
      {"5000000000000h", -1}};
  for (const Case& one : cases) {
    const auto parsed = parse_duration(one.text);
    EXPECT_EQ(parsed ? parsed->count() : -1, one.expected_ms) << one.text;
    if (parsed) continue;
    EXPECT_THAT(parsed.error().message, HasSubstr("such as 250ms")) << one.text;
  }
  EXPECT_EQ(duration_text(Milliseconds(90'000)), "90s");
  EXPECT_EQ(duration_text(Milliseconds(60'000)), "1m");
  EXPECT_EQ(duration_text(Milliseconds(1)), "1ms");
}

TEST(Values, TimesToKeepSomething) {
  struct Case {
    std::string text;
    std::int64_t expected_s;  // -1: refused
  };
  const std::vector<Case> cases{{"0s", 0},
                                {"0d", 0},
                                {"10s", 10},
                                {"5m", 300},
                                {"2h", 7200},
                                {"30d", 2'592'000},
                                {"2147483648s", 2'147'483'648},
                                {"2147483649s", -1},
                                {"24855d", 24855LL * 86'400},
                                {"24856d", -1},
                                {"0", -1},
                                {"10ms", -1},
                                {"1w", -1},
                                {"", -1},
                                {"-1s", -1},
                                {"1.5h", -1}};
  for (const Case& one : cases) {
    const auto parsed = parse_ttl(one.text);
    EXPECT_EQ(parsed ? parsed->count() : -1, one.expected_s) << one.text;
    if (parsed) continue;
    EXPECT_THAT(parsed.error().message, HasSubstr("such as 10s or 30d")) << one.text;
  }
  EXPECT_EQ(ttl_text(Seconds(172'800)), "2d");
  EXPECT_EQ(ttl_text(Seconds(90)), "90s");
  EXPECT_EQ(ttl_text(Seconds(0)), "0s");
  EXPECT_EQ(ttl_text(limits::delta_seconds_most), "2147483648s");
}

TEST(Values, Sizes) {
  struct Case {
    std::string text;
    std::int64_t expected_bytes;  // -1: refused
  };
  const std::vector<Case> cases{{"256MiB", 256 << 20},
                                {"1GiB", 1 << 30},
                                {"512KiB", 512 << 10},
                                {"1048576", 1 << 20},
                                {"1MB", -1},
                                {"1mib", -1},
                                {"", -1},
                                {"MiB", -1},
                                {"1.5GiB", -1},
                                {"99999999GiB", -1}};
  for (const Case& one : cases) {
    const auto parsed = parse_size(one.text);
    EXPECT_EQ(parsed ? static_cast<std::int64_t>(*parsed) : -1, one.expected_bytes) << one.text;
  }
  EXPECT_EQ(size_text(256 << 20), "256MiB");
  EXPECT_EQ(size_text(1000), "1000");
}

TEST(Values, MemoriesOfStores) {
  struct Case {
    std::string text;
    std::optional<StoreMemory> expected;
    std::string message;  // a part of it, where it is refused
  };
  const std::vector<Case> cases{
      {"256MiB", StoreMemory{256 << 20, 0}, ""},
      {"1MiB", StoreMemory{1 << 20, 0}, ""},
      {"1%", StoreMemory{0, 1}, ""},
      {"75%", StoreMemory{0, 75}, ""},
      {"90%", StoreMemory{0, 90}, ""},
      {"1023KiB", {}, "give at least 1MiB"},
      {"0%", {}, "write 1% to 90%"},
      {"91%", {}, "write 1% to 90%"},
      {"100%", {}, "buffers need the rest"},
      {"-5%", {}, "write 1% to 90%"},
      {"7.5%", {}, "write 1% to 90%"},
      {" 75%", {}, "write 1% to 90%"},
      {"75 %", {}, "write 1% to 90%"},
      {"75%%", {}, "write 1% to 90%"},
      {"%", {}, "write 1% to 90%"},
      {"4294967371%", {}, "write 1% to 90%"},  // 75 more than 32 bits hold
      {"75", {}, "give at least 1MiB"},
      {"75% ", {}, "such as 256MiB, or bytes, or a share such as 75%"},
      {"", {}, "or a share such as 75%"},
  };
  for (const Case& one : cases) {
    const auto parsed = parse_store_memory(one.text);
    ASSERT_EQ(parsed.has_value(), one.expected.has_value()) << one.text;
    if (parsed) {
      EXPECT_EQ(*parsed, *one.expected) << one.text;
    } else {
      EXPECT_THAT(parsed.error().message, HasSubstr(one.message)) << one.text;
    }
  }
}

TEST(Values, Origins) {
  struct Case {
    std::string text;
    std::string expected;  // as written back, or a part of the message
    bool ok;
  };
  const std::vector<Case> cases{
      {"http://origin.example", "http://origin.example:80", true},
      {"http://origin.example/", "http://origin.example:80", true},
      {"HTTP://origin.example:8000", "http://origin.example:8000", true},
      {"http://[::1]:81", "http://[::1]:81", true},
      {"http://127.0.0.1:81/", "http://127.0.0.1:81", true},
      {"https://origin.example", "https://origin.example:443", true},
      {"HTTPS://origin.example:8443/", "https://origin.example:8443", true},
      {"http://a;weight=3, https://a", "http://a:80;weight=3,https://a:443", true},
      {"http://a;weight=1", "http://a:80", true},
      {"http://a;weight=1000", "http://a:80;weight=1000", true},
      {"http://a;weight=0", "is no whole number from 1 to 1000", false},
      {"http://a;weight=1001", "weight: ", false},
      {"http://a;weight=2;weight=3", "weight: ", false},
      {"http://a;zone=b", "write ;weight=N", false},
      {"http://a;", "write ;weight=N", false},
      {"http://a,http://a:80;weight=2", "is there twice", false},
      {"http://a,", "write http://HOST", false},
      {"origin.example:80", "write http://HOST", false},
      {"ftp://origin.example", "write http://HOST", false},
      {"http://origin.example/path", "path or query", false},
      {"http://origin.example?q", "path or query", false},
      {"http://user@origin.example", "write http://HOST", false},
      {"http://origin.example:99999", "write http://HOST", false},
      {"http://", "write http://HOST", false},
      {"", "write http://HOST", false},
  };
  for (const Case& one : cases) {
    const auto parsed = parse_origins(one.text);
    ASSERT_EQ(parsed.has_value(), one.ok) << one.text;
    if (!parsed) {
      EXPECT_THAT(parsed.error().message, HasSubstr(one.expected)) << one.text;
      continue;
    }
    std::string back;
    for (const net::Origin& origin : *parsed) {
      back += (back.empty() ? "" : ",") + origin_text(origin);
    }
    EXPECT_EQ(back, one.expected);
    EXPECT_EQ(*parse_origins(back), *parsed);
  }
}

TEST(Values, OriginsOfARouteAreLimited) {
  std::string text;
  for (std::size_t i = 0; i < limits::origins_per_route; ++i) {
    text += (text.empty() ? "http://h:" : ",http://h:") + std::to_string(i + 1);
  }
  EXPECT_EQ(parse_origins(text)->size(), limits::origins_per_route);
  EXPECT_THAT(parse_origins(text + ",http://h:99").error().message, HasSubstr("at most 16"));
}

TEST(Values, Members) {
  const auto parsed =
      parse_members("cache-0=10.0.0.1:8080, cache-1=cache-1.cache:80;weight=2;zone=a,c=[::1]:1");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 3U);
  EXPECT_EQ((*parsed)[1].member.name, "cache-1");
  EXPECT_EQ((*parsed)[1].member.weight, 2U);
  EXPECT_EQ((*parsed)[1].member.zone, "a");
  EXPECT_EQ((*parsed)[1].address.text(), "cache-1.cache:80");
  EXPECT_EQ(members_text(*parsed),
            "cache-0=10.0.0.1:8080,cache-1=cache-1.cache:80;weight=2;zone=a,c=[::1]:1");
  EXPECT_EQ(*parse_members(members_text(*parsed)), *parsed);
  const auto drained = parse_members("cache-0=h:1;weight=0");
  ASSERT_TRUE(drained);
  EXPECT_EQ(drained->front().member.weight, 0U);
  EXPECT_EQ(members_text(*drained), "cache-0=h:1;weight=0");
}

TEST(Values, WrongMembersNameWhatIsWrong) {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases{
      {"cache-0", "has no address"},
      {"=h:1", "name"},
      {"a=h", "a: "},
      {"a=h:1;weight=-1", "weight: "},
      {"a=h:1;weight=1001", "from 0 to 1000"},
      {"a=h:1;weight=x", "weight"},
      {"a=h:1;wieght=2", ";weight=N or ;zone=NAME"},
      {"a=h:1;", ";weight=N or ;zone=NAME"},
      {"a=h:1,", "has no address"},
      {"a b=h:1", "name"},
  };
  for (const Case& one : cases) {
    const auto parsed = parse_members(one.text);
    ASSERT_FALSE(parsed) << one.text;
    EXPECT_THAT(parsed.error().message, HasSubstr(one.message)) << one.text;
  }
}

TEST(Values, FieldNamesThatMeanSomethingElseAreRefused) {
  for (const char* const taken : {"Host", "connection", "Content-Length", "Ringside-Topology",
                                  "Transfer-Encoding", "Via", "x y", ""}) {
    EXPECT_FALSE(parse_field_name(taken)) << taken;
  }
  EXPECT_EQ(*parse_field_name("X-Country"), "X-Country");
}

TEST(Values, ListsOfNetworks) {
  EXPECT_EQ(parse_networks("10.0.0.0/8, ::1")->size(), 2U);
  EXPECT_TRUE(parse_networks("")->empty());
  EXPECT_FALSE(parse_networks("10.0.0.0/8,"));
  EXPECT_FALSE(parse_networks("10.0.0.1/8"));
}

TEST(Values, ListsOfHostNames) {
  const auto names = parse_host_names("Cache.Shop.svc, *.cluster.local");
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, (std::vector<std::string>{"cache.shop.svc", "*.cluster.local"}));
  EXPECT_TRUE(parse_host_names("")->empty());
  for (const char* text : {"a:80", "*", "*.", "a.*", "[::1]", "a b", "a,", "http://a", "a."}) {
    EXPECT_FALSE(parse_host_names(text)) << text;
  }
}

}  // namespace
}  // namespace ringside::program
