#include "program/member_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "program/values.h"
#include "shard/quotation.h"

namespace ringside::program {
namespace {

constexpr std::size_t label_size_bytes = 63;       // RFC 1123 §2.1
constexpr std::size_t subdomain_size_bytes = 253;  // RFC 1035 §2.3.4
constexpr std::size_t port_name_size_bytes = 15;   // RFC 6335 §5.1

bool is_lower_or_digit(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_label(std::string_view text) noexcept {
  return !text.empty() && text.size() <= label_size_bytes && is_lower_or_digit(text.front()) &&
         is_lower_or_digit(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_lower_or_digit(c) || c == '-';
         });
}

bool is_subdomain(std::string_view text) noexcept {
  if (text.size() > subdomain_size_bytes) return false;
  while (true) {
    const auto dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

Result<std::string> parse_port(std::string_view text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (digits) {
    const auto number = parse_number(text, 1, std::numeric_limits<std::uint16_t>::max());
    if (!number) return invalid_input("port " + number.error().message);
    return std::string(text);
  }
  if (is_label(text) && text.size() <= port_name_size_bytes) return std::string(text);
  return invalid_input(
      fmt::format("{} is no port; write the name that the service gives it, or a number",
                  shard::quotation(text)));
}

struct Halves {
  std::string_view name;
  std::string port;
};

// What stands before and behind the colon.
Result<Halves> split_port(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return Halves{text, {}};
  auto port = parse_port(text.substr(colon + 1));
  if (!port) return port.error();
  return Halves{text.substr(0, colon), *std::move(port)};
}

std::string with_port(std::string name, const std::string& port) {
  return port.empty() ? name : std::move(name) + ":" + port;
}

}  // namespace

Result<k8s::Target> parse_kubernetes_target(std::string_view text) {
  auto halves = split_port(text);
  if (!halves) return halves.error();
  std::string_view name = halves->name;
  k8s::Target target;
  target.port = std::move(halves->port);
  if (const auto slash = name.find('/'); slash != std::string_view::npos) {
    target.name_space = name.substr(0, slash);
    name.remove_prefix(slash + 1);
    if (!is_label(target.name_space)) {
      return invalid_input(fmt::format(
          "{} is no namespace; write [NAMESPACE/]STATEFULSET[:PORT], such as shop/ringside-cache",
          shard::quotation(target.name_space)));
    }
  }
  if (!is_subdomain(name)) {
    return invalid_input(
        fmt::format("{} is no StatefulSet's name; write [NAMESPACE/]STATEFULSET[:PORT], such as "
                    "shop/ringside-cache",
                    shard::quotation(name)));
  }
  target.stateful_set = name;
  return target;
}

std::string target_text(const k8s::Target& target) {
  std::string name = target.stateful_set;
  if (!target.name_space.empty()) name = target.name_space + "/" + name;
  return with_port(std::move(name), target.port);
}

Result<k8s::ConfigMapName> parse_config_map_name(std::string_view text) {
  const auto slash = text.find('/');
  k8s::ConfigMapName name;
  if (slash != std::string_view::npos) name.name_space = text.substr(0, slash);
  name.name = text.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (is_subdomain(name.name) && (slash == std::string_view::npos || is_label(name.name_space))) {
    return name;
  }
  return invalid_input(
      fmt::format("{} is no ConfigMap's name; write configmap:[NAMESPACE/]NAME, such as "
                  "configmap:shop/ringside-shards",
                  shard::quotation(text)));
}

Result<k8s::DnsTarget> parse_dns_target(std::string_view text) {
  auto halves = split_port(text);
  if (!halves) return halves.error();
  std::string_view name = halves->name;
  if (name.ends_with('.')) name.remove_suffix(1);  // the root: it is then no relative name
  if (!is_subdomain(name) || IpAddress::try_parse(name)) {
    return invalid_input(fmt::format(
        "{} is no host name; write NAME[:PORT], such as ringside-cache.shop.svc.cluster.local",
        shard::quotation(halves->name)));
  }
  return k8s::DnsTarget{std::string(halves->name), std::move(halves->port)};
}

std::string target_text(const k8s::DnsTarget& target) {
  return with_port(target.name, target.port);
}

}  // namespace ringside::program
