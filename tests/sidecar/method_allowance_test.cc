#include "sidecar/method_allowance.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"

namespace ringside::sidecar {
namespace {

constexpr SteadyPoint began{Milliseconds{1'000'000}};

IpAddress address(const std::string& text) { return IpAddress::parse(text).value(); }

std::size_t taken(MethodAllowance& allowance, const IpAddress& client, SteadyPoint now) {
  std::size_t count = 0;
  while (count < 1'000 && allowance.take(client, now)) ++count;
  return count;
}

TEST(MethodAllowance, FewMethodsAreUsual) {
  for (const char* usual : {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}) {
    EXPECT_FALSE(MethodAllowance::is_rare(usual)) << usual;
  }
  for (const char* rare : {"FOO", "get", "MKCOL", "PURGES", ""}) {
    EXPECT_TRUE(MethodAllowance::is_rare(rare)) << rare;
  }
}

TEST(MethodAllowance, EachClientHasItsOwnAndGetsThemBack) {
  MethodAllowance allowance;
  const auto one = address("203.0.113.9");
  EXPECT_EQ(taken(allowance, one, began), limits::rare_methods_burst);
  EXPECT_EQ(taken(allowance, address("203.0.113.10"), began), limits::rare_methods_burst);
  EXPECT_EQ(taken(allowance, one, began + Seconds{2}), 2 * limits::rare_methods_per_second);
  EXPECT_EQ(taken(allowance, one, began + Seconds{3'600}), limits::rare_methods_burst);
}

TEST(MethodAllowance, AnIpv6ClientHasNoMoreForItsManyAddresses) {
  MethodAllowance allowance;
  EXPECT_EQ(taken(allowance, address("2001:db8::1"), began), limits::rare_methods_burst);
  EXPECT_EQ(taken(allowance, address("2001:db8::2"), began), 0U);
  EXPECT_EQ(taken(allowance, address("2001:db8:0:1::2"), began), limits::rare_methods_burst);
}

TEST(MethodAllowance, TheTableIsBounded) {
  MethodAllowance allowance;
  const auto numbered = [](std::size_t number) {
    return address("198." + std::to_string(18 + number / 65'536) + "." +
                   std::to_string(number / 256 % 256) + "." + std::to_string(number % 256));
  };
  for (std::size_t i = 0; i < limits::rare_method_clients; ++i) {
    EXPECT_TRUE(allowance.take(numbered(i), began));
  }
  std::size_t more = 0;
  for (std::size_t i = 0; i < 1'000; ++i) {
    more += allowance.take(numbered(limits::rare_method_clients + i), began) ? 1 : 0;
  }
  EXPECT_LE(more, limits::rare_methods_burst);
  EXPECT_EQ(allowance.clients(), limits::rare_method_clients);
  EXPECT_TRUE(allowance.take(numbered(70'000), began + Seconds{60}));
  EXPECT_EQ(allowance.clients(), 1U);  // the others have rested
}

}  // namespace
}  // namespace ringside::sidecar
