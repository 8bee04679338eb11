#include "sidecar/canonical_request.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ringside::sidecar {
namespace {

using http::same_token;

// Names, of which most others are told by their length alone.
template <std::size_t count>
class Names {
 public:
  constexpr explicit Names(const std::array<std::string_view, count>& names) : names_(names) {
    for (const std::string_view name : names) lengths_ |= 1ULL << name.size();
  }
  [[nodiscard]] bool has(std::string_view name) const noexcept {
    constexpr std::size_t bits = 64;
    return name.size() < bits && ((lengths_ >> name.size()) & 1U) != 0 &&
           std::any_of(names_.begin(), names_.end(),
                       [name](std::string_view other) { return same_token(other, name); });
  }

 private:
  std::array<std::string_view, count> names_;
  std::uint64_t lengths_ = 0;
};

constexpr Names kWrittenAnew(std::to_array<std::string_view>(
    {"host", "content-length", "forwarded", "expect", "x-forwarded-for", "x-forwarded-proto"}));
constexpr Names kOfProxies(std::to_array<std::string_view>(
    {"x-host", "x-original-host", "x-original-url", "x-original-uri", "x-rewrite-url",
     "x-http-host-override", "x-scheme", "x-url-scheme", "front-end-https"}));
constexpr Names kAddresses(std::to_array<std::string_view>(
    {"x-real-ip", "client-ip", "x-client-ip", "true-client-ip", "x-cluster-client-ip",
     "x-originating-ip", "x-remote-ip", "x-remote-addr", "cf-connecting-ip", "fastly-client-ip"}));
constexpr Names kMethods(std::to_array<std::string_view>({"x-http-method-override", "x-http-method",
                                                          "x-method-override"}));

bool is_read(std::string_view method) noexcept { return method == "GET" || method == "HEAD"; }

}  // namespace

bool is_written_anew(std::string_view field_name) noexcept { return kWrittenAnew.has(field_name); }

bool is_of_proxies(std::string_view field_name) noexcept {
  constexpr std::string_view prefix = "x-forwarded-";
  return same_token(field_name.substr(0, prefix.size()), prefix) || kOfProxies.has(field_name);
}

bool tells_address(std::string_view field_name) noexcept { return kAddresses.has(field_name); }

void make_canonical(http::RequestHead& request, const Settings& settings, Decision& decision) {
  decision.hops_told.clear();
  if (decision.peer_is_trusted) {
    decision.hops_told = request.fields.combined(settings.client_address_from).value_or("");
  }
  const http::HopByHop hop_by_hop(request.fields);
  const bool is_trusted = decision.peer_is_trusted;
  const bool counts = decision.hop.max_forwards.has_value();
  request.fields.keep([&](const http::Field& field) {
    const std::string_view name = field.name;
    return !is_written_anew(name) && !same_token(name, settings.country_header) &&
           !http::is_internal(name) && !hop_by_hop.has(name) &&
           (settings.underscores || name.find('_') == std::string_view::npos) &&
           (is_trusted || !(is_of_proxies(name) || tells_address(name) ||
                            same_token(name, settings.client_address_from))) &&
           !(is_read(request.method) && kMethods.has(name)) &&
           !(counts && same_token(name, "max-forwards"));
  });
}

}  // namespace ringside::sidecar
