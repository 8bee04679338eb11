// Lines of Forwarded, or where the first byte is an x, of X-Forwarded-For.
#include "base/limits.h"
#include "http/forwarded.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

std::string_view name_of(bool forwarded) noexcept {
  return forwarded ? "forwarded" : http::x_forwarded_for;
}

using http::Fields;
using http::ForwardedHop;

IpAddress address(std::string_view text) { return *IpAddress::parse(text); }

const IpAddress peer = address("10.0.0.1");
const std::vector<Network> trusted{*Network::parse("10.0.0.0/8"), *Network::parse("fd00::/8")};

// The walk as the contract has it, over the list of hops.
IpAddress walk(const std::vector<ForwardedHop>& hops) {
  IpAddress reached = peer;
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    if (!hop->address) break;
    reached = *hop->address;
    if (!any_contains(trusted, reached)) break;
  }
  return reached;
}

void check_hops(const std::vector<ForwardedHop>& hops) {
  RINGSIDE_CHECK(hops.size() <= limits::forwarded_hops);
  for (const ForwardedHop& hop : hops) {
    RINGSIDE_CHECK(all_in(hop.proto, http::kValueClass));
    for (const char c : hop.proto) RINGSIDE_CHECK(c < 'A' || c > 'Z');
    if (!hop.address) continue;
    // What we would write of it says the same to the next reader.
    std::string element;
    http::append_forwarded(element, *hop.address, "http");
    Fields written;
    written.add("Forwarded", element);
    const auto again = http::forwarded_hops(written, "forwarded");
    RINGSIDE_CHECK(again.size() == 1 && again[0].address == hop.address &&
                   again[0].proto == "http");
  }
}

// A client can write what it likes: the line that our own proxy adds behind it decides.
void check_not_forged(Fields fields, bool forwarded) {
  const IpAddress real = address("203.0.113.7");
  fields.add(name_of(forwarded), forwarded ? "for=203.0.113.7" : "203.0.113.7");
  RINGSIDE_CHECK(http::client_address(peer, fields, trusted, name_of(forwarded)) == real);
}

// The same where the proxy adds to the client's line. A quotation that was left open there may hide
// it; then nothing is believed but the peer's own address.
void check_not_forged_in_line(std::string_view line, bool forwarded) {
  const std::string joined =
      std::string(line) + (forwarded ? ", for=203.0.113.7" : ", 203.0.113.7");
  Fields fields;
  fields.add(name_of(forwarded), joined);
  const IpAddress found = http::client_address(peer, fields, trusted, name_of(forwarded));
  RINGSIDE_CHECK(found == address("203.0.113.7") || (forwarded && found == peer));
}

}  // namespace

void examine(std::string_view input) {
  const bool forwarded = take(input, 1) != "x";
  Fields fields;
  for (const std::string_view line : lines_of(input)) {
    if (!all_in(line, http::kValueClass)) return;  // no head has such a value
    fields.add(name_of(forwarded), http::trimmed(line));
    check_not_forged_in_line(line, forwarded);
  }
  const auto hops = http::forwarded_hops(fields, name_of(forwarded));
  check_hops(hops);
  RINGSIDE_CHECK(http::client_address(peer, fields, trusted, name_of(forwarded)) == walk(hops));
  RINGSIDE_CHECK(http::client_address(peer, fields, {}, name_of(forwarded)) == peer);
  check_not_forged(fields, forwarded);
}

}  // namespace ringside::fuzz
