// What comes first on a connection from a load balancer: PROXY protocol, version 1 or 2.
#include <fmt/format.h>

#include <string>

#include "base/limits.h"
#include "net/proxy_header.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using net::parse_proxy_header;
using net::ProxyHeader;

// Once known, the verdict stays what it is, whatever follows, and it comes with the header's last
// byte.
void check_every_prefix(std::string_view input) {
  bool refused = false;
  std::optional<ProxyHeader> found;
  for (std::size_t size = 0; size <= input.size(); ++size) {
    const auto header = parse_proxy_header(input.substr(0, size));
    if (refused) {
      RINGSIDE_CHECK(!header);
      continue;
    }
    refused = !header;
    if (refused) {
      RINGSIDE_CHECK(!found);
      RINGSIDE_CHECK(header.error().kind == ErrorKind::malformed);
      check_message(header.error());
    } else if (found) {
      RINGSIDE_CHECK(*header == found);
    } else if (*header) {
      found = *header;
      RINGSIDE_CHECK(found->size_bytes == size && size <= limits::proxy_header_size_bytes);
    }
  }
}

std::string line_of(const ProxyHeader::Source& source) {
  const bool v4 = source.address.is_v4();
  return fmt::format("PROXY TCP{} {} {} {} 443\r\n", v4 ? 4 : 6, source.address.text(),
                     v4 ? "192.0.2.1" : "2001:db8::1", source.port);
}

std::string binary_of(const ProxyHeader::Source& source) {
  std::string out("\r\n\r\n\0\r\nQUIT\n\x21\x21\0\x24", 16);
  for (int i = 0; i < 2; ++i) {
    for (const std::uint8_t byte : source.address.bytes()) out += static_cast<char>(byte);
  }
  for (int i = 0; i < 2; ++i) {
    out += {static_cast<char>(source.port >> 8), static_cast<char>(source.port & 0xff)};
  }
  return out;
}

// The source in either version's words is the same source.
void check_written_again(const ProxyHeader::Source& source) {
  for (const std::string& text : {line_of(source), binary_of(source)}) {
    const auto again = parse_proxy_header(text + "GET / HTTP/1.1\r\n");
    RINGSIDE_CHECK(again && *again && (*again)->size_bytes == text.size());
    RINGSIDE_CHECK((*again)->source == source);
  }
}

}  // namespace

void examine(std::string_view input) {
  check_every_prefix(input);
  const auto header = parse_proxy_header(input);
  if (header && *header && (*header)->source) check_written_again(*(*header)->source);
}

}  // namespace ringside::fuzz
