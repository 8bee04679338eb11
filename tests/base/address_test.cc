#include "base/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

using testing::HasSubstr;

TEST(IpAddress, HasOneTextForm) {
  struct Case {
    std::string_view text;
    std::string_view written;
    bool is_v4;
  };
  const Case cases[] = {
      {"192.0.2.1", "192.0.2.1", true},
      {"0.0.0.0", "0.0.0.0", true},
      {"255.255.255.255", "255.255.255.255", true},
      {"::ffff:192.0.2.1", "192.0.2.1", true},
      {"::FFFF:c000:201", "192.0.2.1", true},
      {"::", "::", false},
      {"::1", "::1", false},
      {"1::", "1::", false},
      {"::1:2", "::1:2", false},
      {"::192.0.2.1", "::c000:201", false},
      {"2001:DB8::1", "2001:db8::1", false},
      {"2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1", false},
      {"64:ff9b::192.0.2.33", "64:ff9b::c000:221", false},
      // RFC 5952 §4.2.2: a single group is not shortened.
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1", false},
      // §4.2.3: the longest run is, and the first of equals.
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1", false},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1", false},
      {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::", false},
      {"0:0:3:4:5:6:7:8", "::3:4:5:6:7:8", false},
      {"::ffff:0:1", "0.0.0.1", true},
      {"::fffe:0:1", "::fffe:0:1", false},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false},
  };
  for (const Case& c : cases) {
    const auto address = IpAddress::parse(c.text);
    ASSERT_TRUE(address) << c.text;
    EXPECT_EQ(address->text(), c.written) << c.text;
    EXPECT_EQ(address->is_v4(), c.is_v4) << c.text;
    EXPECT_EQ(IpAddress::parse(address->text()).value(), *address) << c.text;
  }
  EXPECT_EQ(IpAddress{}.text(), "::");
}

TEST(IpAddress, RefusesWhatIsNone) {
  using namespace std::string_view_literals;
  const std::string_view cases[] = {
      "",
      " ",
      "192.0.2",
      "192.0.2.1.5",
      "192.0.2.256",
      "192.0.2.01",
      "0192.0.2.1",
      "192.0.2.1 ",
      " 192.0.2.1",
      "192.0.2.-1",
      "+1.0.2.1",
      "0x7f.0.0.1",
      "2130706433",
      "127.1",
      "192.0.2.1:80",
      "192.0.2.1/32",
      "192..2.1",
      "[::1]",
      "fe80::1%eth0",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      "12345::",
      "::00001",
      "g::",
      ":",
      ":::",
      "1:",
      ":1",
      "::1.2.3",
      "::1.2.3.4.5",
      "::01.2.3.4",
      "1:2:3:4:5:6:7::8",
      "localhost",
      "192.0.2.1\0"sv,
      "\0"sv,
      "::1\0::"sv,
      "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"};
  for (const std::string_view text : cases) {
    const auto address = IpAddress::parse(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(address.error().message, HasSubstr("write one such as 192.0.2.1")) << text;
    EXPECT_FALSE(IpAddress::try_parse(text)) << text;
  }
}

// Each range's first and last address, and the neighbours that are outside.
void expect_special(const std::vector<std::string_view>& texts, bool is_special) {
  for (const std::string_view text : texts) {
    EXPECT_EQ(IpAddress::parse(text).value().is_special(), is_special) << text;
  }
}

TEST(IpAddress, KnowsSpecialIpv4RangesToTheirEdges) {
  expect_special(
      {"0.0.0.0",         "0.255.255.255",  "10.0.0.0",        "10.255.255.255", "100.64.0.0",
       "100.127.255.255", "127.0.0.1",      "127.255.255.255", "169.254.0.0",    "169.254.255.255",
       "172.16.0.0",      "172.31.255.255", "192.0.0.0",       "192.0.0.255",    "192.0.2.0",
       "192.0.2.255",     "192.168.0.0",    "192.168.255.255", "198.18.0.0",     "198.19.255.255",
       "198.51.100.0",    "198.51.100.255", "203.0.113.0",     "203.0.113.255",  "224.0.0.0",
       "239.255.255.255", "240.0.0.0",      "255.255.255.255", "::ffff:10.1.2.3"},
      true);
  expect_special(
      {"1.0.0.0",         "9.255.255.255",   "11.0.0.0",        "100.63.255.255",  "100.128.0.0",
       "126.255.255.255", "128.0.0.0",       "169.253.255.255", "169.255.0.0",     "172.15.255.255",
       "172.32.0.0",      "191.255.255.255", "192.0.1.0",       "192.0.1.255",     "192.0.3.0",
       "192.167.255.255", "192.169.0.0",     "198.17.255.255",  "198.20.0.0",      "198.51.99.255",
       "198.51.101.0",    "203.0.112.255",   "203.0.114.0",     "223.255.255.255", "8.8.8.8",
       "::ffff:8.8.8.8"},
      false);
}

TEST(IpAddress, KnowsSpecialIpv6RangesToTheirEdges) {
  expect_special({"::", "::1", "::8.8.8.8", "64:ff9b:1::1", "100::1", "2001:2::1", "2001:db8::1",
                  "2001:db8:ffff::1", "3fff::", "3fff:fff::1", "5f00::1", "fc00::", "fdff::1",
                  "fe80::1", "febf::1", "fec0::1", "feff::1", "ff02::1"},
                 true);
  expect_special({"::1:0:0:1", "64:ff9b::8.8.8.8", "64:ff9b:2::1", "100:0:0:1::", "2001:2:1::",
                  "2001:db7:ffff::", "2001:db9::", "2002:808:808::1", "3fff:1000::", "5eff::1",
                  "5f01::", "fbff::1", "fe00::", "fe7f::1", "2001:4860:4860::8888"},
                 false);
}

TEST(IpAddress, KnowsLoopback) {
  for (const auto* text : {"127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(IpAddress::parse(text).value().is_loopback()) << text;
  }
  for (const auto* text : {"128.0.0.1", "126.0.0.1", "::2", "::", "::127.0.0.1", "0.0.0.0"}) {
    EXPECT_FALSE(IpAddress::parse(text).value().is_loopback()) << text;
  }
}

TEST(Network, HoldsItsAddresses) {
  struct Case {
    std::string_view network;
    std::string_view written;
    std::string_view address;
    bool contains;
  };
  const Case cases[] = {
      {"10.0.0.0/8", "10.0.0.0/8", "10.255.0.1", true},
      {"10.0.0.0/8", "10.0.0.0/8", "11.0.0.0", false},
      {"10.0.0.0/8", "10.0.0.0/8", "::ffff:10.0.0.1", true},
      {"10.0.0.0/9", "10.0.0.0/9", "10.127.255.255", true},
      {"10.0.0.0/9", "10.0.0.0/9", "10.128.0.0", false},
      {"192.0.2.7", "192.0.2.7/32", "192.0.2.7", true},
      {"192.0.2.7", "192.0.2.7/32", "192.0.2.6", false},
      {"192.0.2.6/31", "192.0.2.6/31", "192.0.2.7", true},
      {"0.0.0.0/0", "0.0.0.0/0", "255.1.2.3", true},
      {"0.0.0.0/0", "0.0.0.0/0", "2001:db8::1", false},
      {"::/0", "::/0", "2001:db8::1", true},
      {"::/0", "::/0", "192.0.2.1", false},
      {"::ffff:0:0/96", "0.0.0.0/0", "192.0.2.1", true},
      {"::ffff:10.0.0.0/104", "10.0.0.0/8", "10.1.2.3", true},
      {"2001:db8::/32", "2001:db8::/32", "2001:db8:ffff::1", true},
      {"2001:db8::/32", "2001:db8::/32", "2001:db9::", false},
      {"::1", "::1/128", "::1", true},
      {"fe80::/10", "fe80::/10", "febf::1", true},
  };
  for (const Case& c : cases) {
    const auto network = Network::parse(c.network);
    ASSERT_TRUE(network) << c.network;
    EXPECT_EQ(network->text(), c.written);
    EXPECT_EQ(network->contains(IpAddress::parse(c.address).value()), c.contains)
        << c.network << " " << c.address;
    EXPECT_EQ(Network::parse(network->text()).value(), *network);
  }
}

TEST(Network, RefusesWhatIsNone) {
  struct Case {
    std::string_view text;
    std::string_view why;
  };
  const Case cases[] = {
      {"", "no IP address"},
      {"10.0.0.0/", "prefix length from 0 to 32"},
      {"10.0.0.0/33", "prefix length from 0 to 32"},
      {"10.0.0.0/08", "prefix length"},
      {"10.0.0.0/-1", "prefix length"},
      {"10.0.0.0/+8", "prefix length"},
      {"10.0.0.0/8 ", "prefix length"},
      {"10.0.0.0/255.0.0.0", "prefix length"},
      {"10.0.0.0/8/8", "prefix length"},
      {"10/8", "\"10\" is no IP address"},
      {"/8", "no IP address"},
      {"10.1.2.3/8", "did you mean 10.0.0.0/8?"},
      {"2001:db8::1/32", "did you mean 2001:db8::/32?"},
      {"::/129", "prefix length from 0 to 128"},
      {"::1/0", "did you mean ::/0?"},
  };
  for (const Case& c : cases) {
    const auto network = Network::parse(c.text);
    ASSERT_FALSE(network) << c.text;
    EXPECT_THAT(network.error().message, HasSubstr(std::string(c.why)));
    EXPECT_THAT(network.error().message, HasSubstr("write one such as 10.0.0.0/8"));
  }
}

TEST(Network, IsMadeAroundAnAddress) {
  const IpAddress address = IpAddress::parse("192.0.2.201").value();
  EXPECT_EQ(Network::around(address, 128).text(), "192.0.2.201/32");
  EXPECT_EQ(Network::around(address, 121).text(), "192.0.2.128/25");
  EXPECT_EQ(Network::around(address, 96).text(), "0.0.0.0/0");
  EXPECT_EQ(Network::around(address, 81).text(), "::8000:0:0/81");
  EXPECT_EQ(Network::around(address, 0).text(), "::/0");
}

TEST(Network, AnyOfSeveral) {
  const std::vector<Network> networks{Network::parse("10.0.0.0/8").value(),
                                      Network::parse("fc00::/7").value()};
  EXPECT_TRUE(any_contains(networks, IpAddress::parse("10.1.1.1").value()));
  EXPECT_TRUE(any_contains(networks, IpAddress::parse("fd00::1").value()));
  EXPECT_FALSE(any_contains(networks, IpAddress::parse("192.0.2.1").value()));
  EXPECT_FALSE(any_contains({}, IpAddress::parse("10.1.1.1").value()));
}

TEST(Endpoint, ReadsAddressesAndNames) {
  struct Case {
    std::string_view text;
    std::string_view host;
    unsigned port;
    std::string_view written;
  };
  const Case cases[] = {
      {"127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1:8080"},
      {"0.0.0.0:0", "0.0.0.0", 0, "0.0.0.0:0"},
      {"[::1]:65535", "::1", 65535, "[::1]:65535"},
      {"[2001:DB8:0::1]:80", "2001:db8::1", 80, "[2001:db8::1]:80"},
      {"[::ffff:192.0.2.1]:80", "192.0.2.1", 80, "192.0.2.1:80"},
      {"localhost:80", "localhost", 80, "localhost:80"},
      {"cache-0.cache.web.svc:80", "cache-0.cache.web.svc", 80, "cache-0.cache.web.svc:80"},
      {"Origin.example.:80", "Origin.example.", 80, "Origin.example.:80"},
      {"my_service:80", "my_service", 80, "my_service:80"},
      {"1.cache:80", "1.cache", 80, "1.cache:80"},
  };
  for (const Case& c : cases) {
    const auto endpoint = Endpoint::parse(c.text);
    ASSERT_TRUE(endpoint) << c.text;
    EXPECT_EQ(endpoint->host, c.host);
    EXPECT_EQ(endpoint->port, c.port);
    EXPECT_EQ(endpoint->text(), c.written);
  }
}

// The fuzzer's find: what was refused was quoted with its control bytes, line feeds among them.
TEST(Address, AMessageHeldControlBytes) {
  const std::string wrong = "10.0.0.1\n:80\x1b[2J";
  for (const Error& error : {Endpoint::parse(wrong).error(), Endpoint::parse("\n:80").error(),
                             IpAddress::parse(wrong).error(), Network::parse(wrong).error()}) {
    for (const char c : error.message) EXPECT_GE(c, ' ') << error.message;
  }
}

TEST(Endpoint, RefusesWhatIsNone) {
  using namespace std::string_view_literals;
  struct Case {
    std::string_view text;
    std::string_view why;
  };
  const std::string long_label = std::string(64, 'a') + ":80";
  std::string long_name;
  while (long_name.size() < 254) long_name += "a.";
  long_name += "a:80";
  const Case cases[] = {
      {"", "port is missing"},
      {"localhost", "port is missing"},
      {":8080", "host is missing"},
      {"localhost:", "no number from 0 to 65535"},
      {"localhost:65536", "no number from 0 to 65535"},
      {"localhost:080", "no number from 0 to 65535"},
      {"localhost:80a", "no number from 0 to 65535"},
      {"localhost:-1", "no number from 0 to 65535"},
      {"localhost:99999999999999999999", "no number from 0 to 65535"},
      {"::1:8080", "stands in brackets"},
      {"http://a:80", "leave http:// out"},
      {"[::1]", "port is missing"},
      {"[::1]8080", "port is missing"},
      {"[::1:8080", "not closed"},
      {"[]:80", "host is missing"},
      {"[127.0.0.1]:80", "no IPv6 address"},
      {"[localhost]:80", "no IPv6 address"},
      {"[fe80::1%eth0]:80", "no IPv6 address"},
      {"10.0.0.256:80", "neither an IP address nor a DNS name"},
      {"10.0.0:80", "neither an IP address nor a DNS name"},
      {"12345:80", "neither an IP address nor a DNS name"},
      {"a..b:80", "neither an IP address nor a DNS name"},
      {".:80", "neither an IP address nor a DNS name"},
      {"-a:80", "neither an IP address nor a DNS name"},
      {"a-:80", "neither an IP address nor a DNS name"},
      {"a b:80", "neither an IP address nor a DNS name"},
      {"a/b:80", "neither an IP address nor a DNS name"},
      {"user@host:80", "neither an IP address nor a DNS name"},
      {"a\0b:80"sv, "neither an IP address nor a DNS name"},
      {long_label, "neither an IP address nor a DNS name"},
      {long_name, "neither an IP address nor a DNS name"},
  };
  for (const Case& c : cases) {
    const auto endpoint = Endpoint::parse(c.text);
    ASSERT_FALSE(endpoint) << c.text;
    EXPECT_THAT(endpoint.error().message, HasSubstr(std::string(c.why))) << c.text;
    EXPECT_THAT(endpoint.error().message, HasSubstr("write host:port"));
  }
}

TEST(Subscriber, IsAnAddressOrANetworkOfIpv6) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"192.0.2.7", "192.0.2.7"},
      {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
      {"2001:db8:1:2::", "2001:db8:1:2::"},
      {"2001:db8:1:3::1", "2001:db8:1:3::"},
      {"::1", "::"},
  };
  for (const auto& [address, subscriber] : rows) {
    EXPECT_EQ(subscriber_of(*IpAddress::try_parse(address)).text(), subscriber) << address;
  }
}

}  // namespace
}  // namespace ringside
