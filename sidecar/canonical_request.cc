#include "sidecar/canonical_request.h"

#include <array>
#include <string_view>

namespace ringside::sidecar {
namespace {

using http::FieldNames;
using http::same_token;

constexpr FieldNames kWrittenAnew(std::to_array<std::string_view>(
    {"host", "content-length", "forwarded", "expect", "x-forwarded-for", "x-forwarded-proto"}));
constexpr FieldNames kOfProxies(std::to_array<std::string_view>(
    {"x-host", "x-original-host", "x-original-url", "x-original-uri", "x-rewrite-url",
     "x-http-host-override", "x-scheme", "x-url-scheme", "front-end-https"}));
constexpr FieldNames kAddresses(std::to_array<std::string_view>(
    {"x-real-ip", "client-ip", "x-client-ip", "true-client-ip", "x-cluster-client-ip",
     "x-originating-ip", "x-remote-ip", "x-remote-addr", "cf-connecting-ip", "fastly-client-ip"}));
constexpr FieldNames kMethods(std::to_array<std::string_view>(
    {"x-http-method-override", "x-http-method", "x-method-override"}));

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
