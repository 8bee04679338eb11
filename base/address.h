#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ringside {

// An IPv4 or IPv6 address as 16 bytes; IPv4 is held v4-mapped (::ffff:a.b.c.d), so that an address
// has one form however it arrived. Default: `::`, the unspecified address.
class IpAddress {
 public:
  constexpr IpAddress() = default;
  explicit constexpr IpAddress(const std::array<std::uint8_t, 16>& bytes) : bytes_(bytes) {}

  // Textual forms of RFC 4291 §2.2 and dotted quads without leading zeros. No brackets, no port,
  // no zone.
  [[nodiscard]] static Result<IpAddress> parse(std::string_view text);
  // The same without a message to build, for what clients send.
  [[nodiscard]] static std::optional<IpAddress> try_parse(std::string_view text) noexcept;

  [[nodiscard]] bool is_v4() const noexcept;
  // Loopback, private (RFC 1918, RFC 4193), link-local, shared (RFC 6598), unspecified, multicast,
  // documentation, benchmarking, reserved: addresses that say nothing about a country.
  [[nodiscard]] bool is_special() const noexcept;
  [[nodiscard]] bool is_loopback() const noexcept;
  [[nodiscard]] constexpr const std::array<std::uint8_t, 16>& bytes() const noexcept {
    return bytes_;
  }
  [[nodiscard]] std::string text() const;  // IPv4 dotted; IPv6 as RFC 5952
  auto operator<=>(const IpAddress&) const = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

// A CIDR block. A bare address is a block of one. Bits behind the prefix must be zero: `10.1.2.3/8`
// may have been meant as a host or as a network, so it is refused.
class Network {
 public:
  [[nodiscard]] static Result<Network> parse(std::string_view text);
  // The block of that length around an address. `prefix_bits` <= 128, in the 128-bit form.
  [[nodiscard]] static constexpr Network around(const IpAddress& address, unsigned prefix_bits) {
    std::array<std::uint8_t, 16> base{};
    for (unsigned i = 0; i < prefix_bits / 8; ++i) base[i] = address.bytes()[i];
    if (prefix_bits % 8 != 0) {
      const unsigned kept = 0xff00U >> (prefix_bits % 8);
      base[prefix_bits / 8] = static_cast<std::uint8_t>(address.bytes()[prefix_bits / 8] & kept);
    }
    Network network;
    network.base_ = IpAddress(base);
    network.prefix_bits_ = static_cast<std::uint8_t>(prefix_bits);
    return network;
  }
  // An IPv6 block holds no IPv4 address: who trusts `::/0` has said nothing about IPv4.
  [[nodiscard]] bool contains(const IpAddress& address) const noexcept;
  [[nodiscard]] const IpAddress& base() const noexcept { return base_; }
  [[nodiscard]] unsigned prefix_bits() const noexcept { return prefix_bits_; }  // 128-bit form
  [[nodiscard]] std::string text() const;
  auto operator<=>(const Network&) const = default;

 private:
  IpAddress base_;
  std::uint8_t prefix_bits_ = 128;  // counted in the 128-bit form
};

// What one client has: an IPv4 address, or the /64 of an IPv6 one, whose 2^64 addresses are all its
// own (RFC 6177).
[[nodiscard]] inline IpAddress subscriber_of(const IpAddress& address) noexcept {
  constexpr unsigned prefix_bits = 64;
  return address.is_v4() ? address : Network::around(address, prefix_bits).base();
}

// What is_special() covers, IPv4 in its 128-bit form.
[[nodiscard]] std::span<const Network> special_networks() noexcept;

[[nodiscard]] bool any_contains(const std::vector<Network>& networks,
                                const IpAddress& address) noexcept;

// Where something listens or is reached: `host:port`, `[v6]:port`. The host is an address (in its
// one text form, without brackets) or a DNS name as written.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  [[nodiscard]] static Result<Endpoint> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  auto operator<=>(const Endpoint&) const = default;
};

}  // namespace ringside
