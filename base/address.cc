#include "base/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <span>

#include "base/quotation.h"

namespace ringside {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

constexpr unsigned kAddressBits = 128;
constexpr unsigned kMappedBits = 96;  // ::ffff:0:0/96, RFC 4291 §2.5.5.2
constexpr Bytes kMappedBase{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};

std::uint64_t half(const Bytes& bytes, unsigned start) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + start, sizeof value);
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

bool same_prefix(const Bytes& a, const Bytes& b, unsigned bits) noexcept {
  const std::uint64_t high = half(a, 0) ^ half(b, 0);
  if (bits <= 64) return bits == 0 || high >> (64 - bits) == 0;
  return high == 0 && (half(a, 8) ^ half(b, 8)) >> (128 - bits) == 0;
}

constexpr Network v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, unsigned bits) {
  Bytes base = kMappedBase;
  base[12] = a;
  base[13] = b;
  base[14] = c;
  return Network::around(IpAddress(base), kMappedBits + bits);
}

constexpr Network v6(unsigned first, unsigned second, unsigned third, unsigned bits) {
  Bytes base{};
  const std::array<unsigned, 3> groups{first, second, third};
  for (unsigned i = 0; i < groups.size(); ++i) {
    base[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
    base[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
  }
  return Network::around(IpAddress(base), bits);
}

// The IANA special-purpose address registries, less what is globally reachable and belongs to
// somebody (6to4 and Teredo: the database knows the addresses inside).
constexpr std::size_t kSpecialV4Count = 14;
constexpr std::array kSpecial{
    v4(0, 0, 0, 8),            // "this network", RFC 791
    v4(10, 0, 0, 8),           // private, RFC 1918
    v4(100, 64, 0, 10),        // shared, RFC 6598
    v4(127, 0, 0, 8),          // loopback, RFC 1122
    v4(169, 254, 0, 16),       // link-local, RFC 3927
    v4(172, 16, 0, 12),        // private, RFC 1918
    v4(192, 0, 0, 24),         // IETF protocol assignments, RFC 6890
    v4(192, 0, 2, 24),         // documentation, RFC 5737
    v4(192, 168, 0, 16),       // private, RFC 1918
    v4(198, 18, 0, 15),        // benchmarking, RFC 2544
    v4(198, 51, 100, 24),      // documentation, RFC 5737
    v4(203, 0, 113, 24),       // documentation, RFC 5737
    v4(224, 0, 0, 4),          // multicast, RFC 1112
    v4(240, 0, 0, 4),          // reserved and limited broadcast, RFC 1112
    v6(0, 0, 0, 96),           // unspecified, loopback, v4-compatible (deprecated): RFC 4291
    v6(0x64, 0xff9b, 1, 48),   // local-use translation, RFC 8215
    v6(0x100, 0, 0, 64),       // discard-only, RFC 6666
    v6(0x2001, 2, 0, 48),      // benchmarking, RFC 5180
    v6(0x2001, 0xdb8, 0, 32),  // documentation, RFC 3849
    v6(0x3fff, 0, 0, 20),      // documentation, RFC 9637
    v6(0x5f00, 0, 0, 16),      // segment routing SIDs, RFC 9602
    v6(0xfc00, 0, 0, 7),       // unique local, RFC 4193
    v6(0xfe80, 0, 0, 10),      // link-local, RFC 4291
    v6(0xfec0, 0, 0, 10),      // site-local (deprecated), RFC 3879
    v6(0xff00, 0, 0, 8),       // multicast, RFC 4291
};

// Decimal digits without sign, white space or leading zeros, at most `most`.
std::optional<unsigned> parse_number(std::string_view text, unsigned most) noexcept {
  if (text.empty() || text.size() > 5 || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  unsigned value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value > most) {
    return std::nullopt;
  }
  return value;
}

// A run of zero groups as RFC 5952 §4.2 shortens it: the longest, the first of equals, at least
// two.
struct ZeroRun {
  unsigned start = 8;
  unsigned length = 1;
};

ZeroRun longest_zero_run(const std::array<unsigned, 8>& groups) noexcept {
  ZeroRun best;
  for (unsigned i = 0; i < groups.size();) {
    unsigned end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i > best.length) best = {i, end - i};
    i = end + 1;
  }
  return best;
}

std::string v6_text(const Bytes& bytes) {
  std::array<unsigned, 8> groups{};
  for (unsigned i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  }
  const ZeroRun zeros = longest_zero_run(groups);
  std::string out;
  for (unsigned i = 0; i < groups.size();) {
    if (i == zeros.start) {
      out += "::";
      i += zeros.length;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    fmt::format_to(std::back_inserter(out), "{:x}", groups[i]);
    ++i;
  }
  return out;
}

constexpr bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A DNS name (RFC 1123 §2.1), with underscores, which service names have in practice. A name whose
// last label is a number would be a mistyped address (`10.0.0.256`) and is none.
bool is_host_name(std::string_view text) noexcept {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > 253) return false;
  std::string_view label;
  while (true) {
    const std::size_t dot = text.find('.');
    label = text.substr(0, dot);
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-' ||
        !std::all_of(label.begin(), label.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; })) {
      return false;
    }
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  return !std::all_of(label.begin(), label.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Error bad_endpoint(std::string_view text, std::string_view why) {
  return invalid_input(
      fmt::format("{} is no address to listen on or connect to: {}; write host:port, such as "
                  "127.0.0.1:8080, cache-0.cache:8080 or [::1]:8080",
                  quotation(text), why));
}

}  // namespace

std::optional<IpAddress> IpAddress::try_parse(std::string_view text) noexcept {
  // inet_pton wants a terminated string, and takes neither leading zeros nor a zone.
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::copy(text.begin(), text.end(), copy.begin());
  Bytes bytes = kMappedBase;
  if (::inet_pton(AF_INET, copy.data(), &bytes[12]) == 1) return IpAddress(bytes);
  if (::inet_pton(AF_INET6, copy.data(), bytes.data()) == 1) return IpAddress(bytes);
  return std::nullopt;
}

Result<IpAddress> IpAddress::parse(std::string_view text) {
  if (const auto address = try_parse(text)) return *address;
  return invalid_input(
      fmt::format("{} is no IP address; write one such as 192.0.2.1 (without leading zeros) or "
                  "2001:db8::1 (without brackets, port or zone)",
                  quotation(text)));
}

bool IpAddress::is_v4() const noexcept {
  return half(bytes_, 0) == 0 && half(bytes_, 8) >> 32 == 0xffff;
}

bool IpAddress::is_special() const noexcept {
  const std::span<const Network> all(kSpecial);
  const auto family = is_v4() ? all.first(kSpecialV4Count) : all.subspan(kSpecialV4Count);
  return std::any_of(family.begin(), family.end(), [this](const Network& network) {
    return same_prefix(bytes_, network.base().bytes(), network.prefix_bits());
  });
}

std::span<const Network> special_networks() noexcept { return kSpecial; }

bool IpAddress::is_loopback() const noexcept {
  constexpr Bytes v6_loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return is_v4() ? bytes_[12] == 127 : bytes_ == v6_loopback;
}

std::string IpAddress::text() const {
  if (!is_v4()) return v6_text(bytes_);
  std::array<char, INET_ADDRSTRLEN> quad{};
  char* at = quad.data();
  for (std::size_t i = 12; i < bytes_.size(); ++i) {
    if (i > 12) *at++ = '.';
    at = std::to_chars(at, quad.data() + quad.size(), bytes_[i]).ptr;
  }
  return {quad.data(), at};
}

Result<Network> Network::parse(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return invalid_input(fmt::format(
        "{} is no network: {}; write one such as 10.0.0.0/8, 2001:db8::/32 or a single address",
        quotation(text), why));
  };
  const std::size_t slash = text.find('/');
  const std::string_view base_text = text.substr(0, slash);
  const auto base = IpAddress::try_parse(base_text);
  if (!base) return refuse(fmt::format("{} is no IP address", quotation(base_text)));
  if (slash == std::string_view::npos) return Network::around(*base, kAddressBits);
  // `::ffff:10.0.0.0/104` counts as it is written.
  const bool dotted = base_text.find(':') == std::string_view::npos;
  const unsigned most = dotted ? kAddressBits - kMappedBits : kAddressBits;
  const auto written = parse_number(text.substr(slash + 1), most);
  if (!written) {
    return refuse(fmt::format("what follows \"/\" is no prefix length from 0 to {}", most));
  }
  const unsigned bits = dotted ? *written + kMappedBits : *written;
  const Network network = Network::around(*base, bits);
  if (network.base_ != *base) {
    return refuse(fmt::format("bits are set behind its prefix (did you mean {}?)", network.text()));
  }
  return network;
}

bool Network::contains(const IpAddress& address) const noexcept {
  // An IPv4 base has all of its first 96 bits in the prefix, since bit 96 is set.
  return address.is_v4() == base_.is_v4() &&
         same_prefix(address.bytes(), base_.bytes(), prefix_bits_);
}

std::string Network::text() const {
  const unsigned bits = base_.is_v4() ? prefix_bits_ - kMappedBits : prefix_bits_;
  return fmt::format("{}/{}", base_.text(), bits);
}

bool any_contains(const std::vector<Network>& networks, const IpAddress& address) noexcept {
  return std::any_of(networks.begin(), networks.end(),
                     [&](const Network& network) { return network.contains(address); });
}

Result<Endpoint> Endpoint::parse(std::string_view text) {
  std::string_view host;
  std::size_t colon = std::string_view::npos;
  const bool bracketed = text.starts_with('[');
  if (bracketed) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return bad_endpoint(text, "\"[\" is not closed");
    host = text.substr(1, bracket - 1);
    colon = bracket + 1 < text.size() && text[bracket + 1] == ':' ? bracket + 1 : colon;
  } else {
    colon = text.find(':');
    host = text.substr(0, colon);
    if (text.find("://") != std::string_view::npos) return bad_endpoint(text, "leave http:// out");
    if (colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos) {
      return bad_endpoint(text, "an IPv6 address stands in brackets");
    }
  }
  if (colon == std::string_view::npos) return bad_endpoint(text, "the port is missing");
  const auto port = parse_number(text.substr(colon + 1), 65535);
  if (!port) return bad_endpoint(text, "the port is no number from 0 to 65535");
  const auto address = IpAddress::try_parse(host);
  const bool is_v6_text = host.find(':') != std::string_view::npos;
  if (host.empty()) return bad_endpoint(text, "the host is missing");
  if (bracketed && !(address && is_v6_text)) {
    return bad_endpoint(text, "no IPv6 address stands in the brackets");
  }
  if (!address && !is_host_name(host)) {
    return bad_endpoint(text,
                        fmt::format("{} is neither an IP address nor a DNS name", quotation(host)));
  }
  return Endpoint{address ? address->text() : std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string Endpoint::text() const {
  const bool is_v6_text = host.find(':') != std::string::npos;
  return is_v6_text ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace ringside
