#include "net/proxy_header.h"

#include <algorithm>
#include <array>

#include "base/limits.h"

namespace ringside::net {
namespace {

using Found = Result<std::optional<ProxyHeader>>;

Error malformed(const char* why) {
  return {ErrorKind::malformed, ErrorSource::client, Retry::no, why};
}

// True where both are the same as far as both reach.
bool may_become(std::string_view bytes, std::string_view start) noexcept {
  return bytes.substr(0, start.size()) == start.substr(0, bytes.size());
}

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// --- Version 1, §2.1: `PROXY TCP4 source destination port port` and CRLF.

constexpr std::string_view kLineStart = "PROXY ";
constexpr std::size_t kLineSizeBytes = 107;  // with its CRLF
constexpr unsigned kPortLast = 65535;

// The text up to the next space; `line` keeps what comes behind it.
std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<std::uint16_t> parse_port(std::string_view digits) noexcept {
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  unsigned port = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    port = port * 10 + static_cast<unsigned>(c - '0');
    if (port > kPortLast) return std::nullopt;
  }
  return static_cast<std::uint16_t>(port);
}

std::optional<IpAddress> parse_address(std::string_view text, bool v6) noexcept {
  const bool has_colon = text.find(':') != text.npos;
  return has_colon == v6 ? IpAddress::try_parse(text) : std::nullopt;
}

// `words` is what follows TCP4 or TCP6 and a space, up to the CRLF.
std::optional<ProxyHeader::Source> parse_line_addresses(std::string_view words, bool v6) noexcept {
  if (std::count(words.begin(), words.end(), ' ') != 3) return std::nullopt;
  const auto source = parse_address(take_word(words), v6);
  const auto destination = parse_address(take_word(words), v6);
  const auto source_port = parse_port(take_word(words));
  const auto destination_port = parse_port(words);
  if (!source || !destination || !source_port || !destination_port) return std::nullopt;
  return ProxyHeader::Source{*source, *source_port};
}

bool is_known_family(std::string_view after_start) noexcept {
  return may_become(after_start, "TCP4 ") || may_become(after_start, "TCP6 ") ||
         may_become(after_start, "UNKNOWN ") || may_become(after_start, "UNKNOWN\r\n");
}

// Where the line's CR is, npos while it has not come; nullopt where a byte can't be part of it.
std::optional<std::size_t> find_line_end(std::string_view line) noexcept {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '\r') {
      if (at + 1 == line.size()) return line.npos;
      return line[at + 1] == '\n' ? std::optional(at) : std::nullopt;
    }
    if (c < ' ' || c > '~') return std::nullopt;
  }
  return line.npos;
}

Found parse_line(std::string_view bytes) {
  if (!may_become(bytes, kLineStart)) return malformed("no PROXY header where one is due");
  if (bytes.size() <= kLineStart.size()) return std::optional<ProxyHeader>();
  const std::string_view line = bytes.substr(0, kLineSizeBytes);
  std::string_view rest = line.substr(kLineStart.size());
  if (!is_known_family(rest)) return malformed("a PROXY header of an unknown family");
  const auto end = find_line_end(line);
  if (!end) return malformed("a byte in a PROXY header that can't stand there");
  if (*end == line.npos) {
    if (line.size() == kLineSizeBytes) return malformed("a PROXY header without end");
    return std::optional<ProxyHeader>();
  }
  ProxyHeader header{*end + 2, std::nullopt};
  rest = line.substr(kLineStart.size(), *end - kLineStart.size());
  const std::string_view family = take_word(rest);
  // What follows UNKNOWN is to be ignored, whatever it is.
  if (family == "UNKNOWN") return std::optional(header);
  header.source = parse_line_addresses(rest, family == "TCP6");
  if (!header.source) return malformed("invalid addresses or ports in a PROXY header");
  return std::optional(header);
}

// --- Version 2, §2.2: signature, version and command, family and transport, length; then so many
// bytes of addresses and TLVs.

constexpr std::string_view kSignature{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::size_t kFixedSizeBytes = 16;
constexpr unsigned kVersion = 2;
constexpr unsigned kLocal = 0;
constexpr unsigned kProxy = 1;
constexpr unsigned kStream = 1;
constexpr unsigned kDatagram = 2;
constexpr std::size_t kTlvStartBytes = 3;  // type and length

struct Family {
  std::size_t address_size_bytes;
  std::size_t block_size_bytes;  // both addresses and, where there are some, ports
};
// By their numbers: unspecified, IPv4, IPv6, Unix.
constexpr std::array kFamilies{Family{0, 0}, Family{4, 12}, Family{16, 36}, Family{108, 216}};
constexpr unsigned kUnspecified = 0;
constexpr unsigned kIpv4 = 1;
constexpr unsigned kIpv6 = 2;

unsigned byte(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<unsigned char>(bytes[at]);
}

unsigned number(std::string_view bytes, std::size_t at) noexcept {
  return byte(bytes, at) << 8 | byte(bytes, at + 1);
}

bool is_whole_tlvs(std::string_view tlvs) noexcept {
  while (!tlvs.empty()) {
    if (tlvs.size() < kTlvStartBytes) return false;
    const std::size_t size = kTlvStartBytes + number(tlvs, 1);
    if (size > tlvs.size()) return false;
    tlvs.remove_prefix(size);
  }
  return true;
}

ProxyHeader::Source read_source(std::string_view block, unsigned family) noexcept {
  const std::size_t size = kFamilies[family].address_size_bytes;
  std::array<std::uint8_t, 16> address{};
  if (family == kIpv4) address[10] = address[11] = 0xff;  // v4-mapped, as IpAddress has it
  std::copy_n(block.begin(), size, address.end() - static_cast<std::ptrdiff_t>(size));
  return {IpAddress(address), static_cast<std::uint16_t>(number(block, 2 * size))};
}

// nullptr while the first bytes may begin a header; else what is wrong with them.
const char* refuse_fixed_part(std::string_view bytes) noexcept {
  if (!may_become(bytes, kSignature)) return "no PROXY header where one is due";
  if (bytes.size() <= 12) return nullptr;
  if (byte(bytes, 12) >> 4 != kVersion || (byte(bytes, 12) & 0xf) > kProxy) {
    return "a PROXY header of an unknown version or command";
  }
  if (bytes.size() <= 13) return nullptr;
  const unsigned family = byte(bytes, 13) >> 4;
  // LOCAL's family is to be ignored.
  const bool local = (byte(bytes, 12) & 0xf) == kLocal;
  if (!local && (family >= kFamilies.size() || (byte(bytes, 13) & 0xf) > kDatagram)) {
    return "a PROXY header of an unknown family or transport";
  }
  if (bytes.size() < kFixedSizeBytes) return nullptr;
  const std::size_t length = number(bytes, 14);
  if (kFixedSizeBytes + length > limits::proxy_header_size_bytes) return "a PROXY header too large";
  if (!local && length < kFamilies[family].block_size_bytes) {
    return "a PROXY header too short for its addresses";
  }
  return nullptr;
}

Found parse_binary(std::string_view bytes) {
  if (const char* const why = refuse_fixed_part(bytes)) return malformed(why);
  if (bytes.size() < kFixedSizeBytes) return std::optional<ProxyHeader>();
  ProxyHeader header{kFixedSizeBytes + number(bytes, 14), std::nullopt};
  if (bytes.size() < header.size_bytes) return std::optional<ProxyHeader>();
  const unsigned family = byte(bytes, 13) >> 4;
  // Nobody says how what LOCAL and the unspecified family bring is made: it is skipped as it is.
  if ((byte(bytes, 12) & 0xf) == kLocal || family == kUnspecified) return std::optional(header);
  const std::string_view block = bytes.substr(kFixedSizeBytes, header.size_bytes - kFixedSizeBytes);
  if (!is_whole_tlvs(block.substr(kFamilies[family].block_size_bytes))) {
    return malformed("a PROXY header whose TLVs don't fit into it");
  }
  const bool stream = (byte(bytes, 13) & 0xf) == kStream;
  if (stream && (family == kIpv4 || family == kIpv6)) header.source = read_source(block, family);
  return std::optional(header);
}

}  // namespace

Result<std::optional<ProxyHeader>> parse_proxy_header(std::string_view bytes) {
  if (bytes.empty()) return std::optional<ProxyHeader>();
  return bytes.front() == kSignature.front() ? parse_binary(bytes) : parse_line(bytes);
}

}  // namespace ringside::net
