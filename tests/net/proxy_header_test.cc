#include "net/proxy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace ringside::net {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\n";

std::string signature() { return {"\r\n\r\n\0\r\nQUIT\n", 12}; }

// A header of version 2: `block` is the addresses and TLVs.
std::string binary(unsigned version_and_command, unsigned family_and_transport,
                   const std::string& block) {
  std::string out = signature();
  out += static_cast<char>(version_and_command);
  out += static_cast<char>(family_and_transport);
  out += static_cast<char>(block.size() >> 8);
  out += static_cast<char>(block.size() & 0xff);
  return out + block;
}

std::string v4_block() {
  return {"\xcb\x00\x71\x07\xc0\x00\x02\x01\xdc\x04\x01\xbb", 12};  // 203.0.113.7:56324 -> :443
}
std::string v6_block() {
  const std::string source("\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07", 16);
  return source + source + std::string("\x10\x20\x01\xbb", 4);
}
std::string tlv(unsigned type, const std::string& value) {
  std::string out(1, static_cast<char>(type));
  out += static_cast<char>(value.size() >> 8);
  out += static_cast<char>(value.size() & 0xff);
  return out + value;
}

struct Good {
  const char* what;
  std::string header;
  const char* address;  // nullptr: the socket's
  std::uint16_t port;
};

std::vector<Good> good_headers() {
  const std::string widest_v6 =
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
  return {
      {"v1 TCP4", "PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n", "203.0.113.7", 56324},
      {"v1 TCP4, ports at their ends", "PROXY TCP4 1.2.3.4 5.6.7.8 0 65535\r\n", "1.2.3.4", 0},
      {"v1 TCP6", "PROXY TCP6 2001:db8::7 2001:db8::1 1 2\r\n", "2001:db8::7", 1},
      {"v1 TCP6, mapped", "PROXY TCP6 ::ffff:1.2.3.4 ::1 9 2\r\n", "1.2.3.4", 9},
      {"v1 TCP6, widest", "PROXY TCP6 " + widest_v6 + " 65535 65535\r\n",
       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 65535},
      {"v1 UNKNOWN", "PROXY UNKNOWN\r\n", nullptr, 0},
      {"v1 UNKNOWN, 107 bytes", "PROXY UNKNOWN " + widest_v6 + " 65535 65535\r\n", nullptr, 0},
      {"v1 UNKNOWN, anything", "PROXY UNKNOWN  what, ever \r\n", nullptr, 0},
      {"v2 TCP4", binary(0x21, 0x11, v4_block()), "203.0.113.7", 56324},
      {"v2 TCP6", binary(0x21, 0x21, v6_block()), "2001:db8::7", 0x1020},
      {"v2 TCP4, TLVs",
       binary(0x21, 0x11, v4_block() + tlv(4, "") + tlv(0x20, "\x01") + tlv(2, "a.example")),
       "203.0.113.7", 56324},
      {"v2 TCP6, a TLV", binary(0x21, 0x21, v6_block() + tlv(0xea, std::string(300, 'x'))),
       "2001:db8::7", 0x1020},
      {"v2 LOCAL", binary(0x20, 0x00, ""), nullptr, 0},
      {"v2 LOCAL, addresses", binary(0x20, 0x11, v4_block()), nullptr, 0},
      {"v2 LOCAL, any family and block", binary(0x20, 0xff, "?"), nullptr, 0},
      {"v2 UNSPEC", binary(0x21, 0x00, ""), nullptr, 0},
      {"v2 UNSPEC, any block", binary(0x21, 0x01, "??"), nullptr, 0},
      {"v2 TCP4, unspecified transport", binary(0x21, 0x10, v4_block()), nullptr, 0},
      {"v2 UDP4", binary(0x21, 0x12, v4_block()), nullptr, 0},
      {"v2 UDP6", binary(0x21, 0x22, v6_block()), nullptr, 0},
      {"v2 Unix", binary(0x21, 0x31, std::string(216, 'u')), nullptr, 0},
      {"v2 Unix, a TLV", binary(0x21, 0x32, std::string(216, 'u') + tlv(3, "1234")), nullptr, 0},
      {"v2 at its limit",
       binary(0x21, 0x11,
              v4_block() + tlv(4, std::string(limits::proxy_header_size_bytes - 16 - 12 - 3, 0))),
       "203.0.113.7", 56324},
  };
}

TEST(ProxyHeader, SaysWhoTheClientIsAndWhereHttpBegins) {
  for (const Good& good : good_headers()) {
    SCOPED_TRACE(good.what);
    const auto found = parse_proxy_header(good.header + std::string(kRequest));
    ASSERT_TRUE(found.has_value()) << found.error().message;
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ((*found)->size_bytes, good.header.size());
    ASSERT_EQ((*found)->source.has_value(), good.address != nullptr);
    if (good.address == nullptr) continue;
    EXPECT_EQ((*found)->source->address, IpAddress::parse(good.address).value());
    EXPECT_EQ((*found)->source->port, good.port);
  }
}

TEST(ProxyHeader, EveryCutWaitsForTheRest) {
  for (const Good& good : good_headers()) {
    SCOPED_TRACE(good.what);
    for (std::size_t size = 0; size < good.header.size(); ++size) {
      const auto found = parse_proxy_header(std::string_view(good.header).substr(0, size));
      ASSERT_TRUE(found.has_value()) << size << ": " << found.error().message;
      ASSERT_FALSE(found->has_value()) << size;
    }
  }
}

struct Bad {
  const char* what;
  std::string bytes;
  std::size_t known_at_bytes;  // so many of them suffice to refuse it
  const char* why;
};

std::vector<Bad> bad_lines() {
  const std::string tcp4 = "PROXY TCP4 ";
  const char* const family = "unknown family";
  const char* const byte = "can't stand there";
  const char* const addresses = "invalid addresses or ports";
  std::vector<Bad> bad{
      {"no header", "GET / HTTP/1.1\r\n", 1, "where one is due"},
      {"TLS", "\x16\x03\x01", 1, "where one is due"},
      {"small letters", "proxy TCP4", 1, "where one is due"},
      {"a tab", "PROXY\tTCP4", 6, "where one is due"},
      {"two spaces", "PROXY  TCP4", 7, family},
      {"TCP5", "PROXY TCP5 ", 10, family},
      {"UDP4", "PROXY UDP4 ", 8, family},
      {"UNKNOWN run on", "PROXY UNKNOWNS\r\n", 14, family},
      {"UNKNOWN and bare LF", "PROXY UNKNOWN\n", 14, family},
      {"UNKNOWN and bare CR", "PROXY UNKNOWN\rX", 15, family},
      {"no addresses", "PROXY TCP4\r\n", 11, family},
      {"bare LF", tcp4 + "1.2.3.4 5.6.7.8 1 2\n", 31, byte},
      {"bare CR", tcp4 + "1.2.3.4 5.6.7.8 1 2\rX", 32, byte},
      {"NUL", tcp4 + std::string(1, '\0'), 12, byte},
      {"a byte over 0x7e", tcp4 + "\x80", 12, byte},
      {"no end", "PROXY UNKNOWN " + std::string(200, 'x'), 107, "without end"},
      {"an end too late", "PROXY UNKNOWN " + std::string(92, 'x') + "\r\n", 107, "without end"},
  };
  const std::vector<std::pair<const char*, const char*>> words{
      {"an IPv6 in TCP4", "::1 5.6.7.8 1 2"},
      {"leading zeros in an address", "01.2.3.4 5.6.7.8 1 2"},
      {"an address that is none", "1.2.3.256 5.6.7.8 1 2"},
      {"no destination", "1.2.3.4 1 2"},
      {"an invalid destination", "1.2.3.4 5.6.7 1 2"},
      {"two spaces between", "1.2.3.4  5.6.7.8 1 2"},
      {"a space at the end", "1.2.3.4 5.6.7.8 1 2 "},
      {"a space instead of a port", "1.2.3.4 5.6.7.8 1 "},
      {"five words", "1.2.3.4 5.6.7.8 1 2 3"},
      {"leading zeros in a port", "1.2.3.4 5.6.7.8 01 2"},
      {"a port too large", "1.2.3.4 5.6.7.8 65536 2"},
      {"a signed port", "1.2.3.4 5.6.7.8 +1 2"},
      {"a destination port that is none", "1.2.3.4 5.6.7.8 1 x"},
  };
  for (const auto& [what, text] : words) {
    const std::string line = tcp4 + text + "\r\n";
    bad.push_back({what, line, line.size(), addresses});
  }
  const std::string mixed = "PROXY TCP6 1.2.3.4 ::1 1 2\r\n";
  bad.push_back({"an IPv4 in TCP6", mixed, mixed.size(), addresses});
  return bad;
}

std::vector<Bad> bad_binaries() {
  const char* const version = "unknown version or command";
  const char* const family = "unknown family or transport";
  const char* const tlvs = "TLVs don't fit";
  const auto with = [](unsigned command, unsigned what, const std::string& block) {
    return binary(command, what, block);
  };
  std::string v4 = v4_block();
  return {
      {"an empty line and a request", "\r\nGET / HTTP/1.1\r\n", 3, "where one is due"},
      {"another signature", "\r\n\r\n\r\n", 5, "where one is due"},
      {"version 1 in binary", with(0x11, 0x11, v4), 13, version},
      {"version 3", with(0x31, 0x11, v4), 13, version},
      {"an unknown command", with(0x22, 0x11, v4), 13, version},
      {"an unknown family", with(0x21, 0x41, v4), 14, family},
      {"an unknown transport", with(0x21, 0x13, v4), 14, family},
      {"TCP4 without addresses", with(0x21, 0x11, ""), 16, "too short"},
      {"TCP4 cut short", with(0x21, 0x11, v4.substr(1)), 16, "too short"},
      {"TCP6 with those of TCP4", with(0x21, 0x21, v4), 16, "too short"},
      {"Unix with those of TCP6", with(0x21, 0x31, v6_block()), 16, "too short"},
      {"UDP4 without addresses", with(0x21, 0x12, ""), 16, "too short"},
      {"too large", signature() + std::string("\x21\x11\xff\xff", 4), 16, "too large"},
      {"a byte too large",
       signature() + std::string("\x20\x00", 2) +
           static_cast<char>((limits::proxy_header_size_bytes - 15) >> 8) +
           static_cast<char>((limits::proxy_header_size_bytes - 15) & 0xff),
       16, "too large"},
      {"a lone byte of a TLV", with(0x21, 0x11, v4 + "\x04"), 29, tlvs},
      {"two bytes of a TLV", with(0x21, 0x11, v4 + std::string("\x04\x00", 2)), 30, tlvs},
      {"a TLV past the end", with(0x21, 0x11, v4 + std::string("\x04\x00\x02x", 4)), 32, tlvs},
      {"a second TLV past the end",
       with(0x21, 0x11, v4 + tlv(4, "ab") + std::string("\x04\xff\xff", 3)), 36, tlvs},
  };
}

TEST(ProxyHeader, WhatCanNotBecomeOneIsRefusedAsSoonAsThatIsKnown) {
  std::vector<Bad> all = bad_lines();
  for (Bad& bad : bad_binaries()) all.push_back(std::move(bad));
  for (const Bad& bad : all) {
    SCOPED_TRACE(bad.what);
    const std::string_view bytes = bad.bytes;
    for (std::size_t size = 0; size < bad.known_at_bytes; ++size) {
      const auto found = parse_proxy_header(bytes.substr(0, size));
      ASSERT_TRUE(found.has_value()) << size << ": " << found.error().message;
      ASSERT_FALSE(found->has_value()) << size;
    }
    for (std::size_t size = bad.known_at_bytes; size <= bytes.size(); ++size) {
      const auto found = parse_proxy_header(bytes.substr(0, size));
      ASSERT_TRUE(found.has_error()) << size;
      EXPECT_EQ(found.error().kind, ErrorKind::malformed);
      EXPECT_EQ(found.error().source, ErrorSource::client);
      EXPECT_EQ(found.error().retry, Retry::no);
      EXPECT_THAT(found.error().message, HasSubstr(bad.why)) << size;
    }
  }
}

}  // namespace
}  // namespace ringside::net
