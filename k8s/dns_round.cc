#include "k8s/dns_round.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "base/quotation.h"

namespace ringside::k8s {
namespace {

constexpr std::size_t label_size_most = 63;  // RFC 1035 §2.3.4
constexpr std::size_t name_size_most = 253;  // likewise, as text

Failure failure(FailureReason reason, std::string message) {
  return {reason, std::move(message), {}};
}

std::optional<std::uint16_t> port_number(std::string_view port) noexcept {
  std::uint16_t number = 0;
  const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool is_number = wrong == std::errc{} && end == port.data() + port.size() && number != 0;
  return is_number ? std::optional(number) : std::nullopt;
}

// IPv4 before IPv6, then the smaller.
bool is_better(const IpAddress& a, const IpAddress& b) noexcept {
  if (a.is_v4() != b.is_v4()) return a.is_v4();
  return a < b;
}

// A, and only where there is none AAAA: of a pod that has both every process takes the same, and
// an A that could not be had for the moment is not taken for none.
Outcome<DnsRecords> ask_for_addresses(const std::string& name, const DnsAsk& ask) {
  auto v4 = ask(name, RecordType::a);
  const bool has_none = v4 ? v4->addresses.empty() : v4.error().reason == FailureReason::not_found;
  if (!has_none) return v4;
  auto v6 = ask(name, RecordType::aaaa);
  if (v6 && v6->addresses.empty()) {
    return failure(FailureReason::not_found, fmt::format("{} has no address", name));
  }
  return v6;
}

Outcome<DnsRecords> ask_for_services(const std::string& name, const DnsAsk& ask) {
  auto records = ask(name, RecordType::srv);
  if (!records) return records;
  // RFC 2782: a target of "." says that the service is not offered here.
  std::erase_if(records->services, [](const auto& service) { return service.target.empty(); });
  if (!records->services.empty()) return records;
  return failure(FailureReason::not_found, fmt::format("{} has no SRV record", name));
}

using AskOne = Outcome<DnsRecords> (*)(const std::string&, const DnsAsk&);

struct Found {
  std::string name;
  DnsRecords records;
};

Outcome<Found> search_for(const std::string& name, const SearchList& search, DnsFound& before,
                          AskOne ask_one, const DnsAsk& ask) {
  auto names = names_to_ask(name, search);
  if (names.empty()) {
    return failure(FailureReason::other, fmt::format("{} is too long for a DNS name", name));
  }
  if (names != before.names) before = DnsFound{names, names.size()};
  for (std::size_t i = 0; i < names.size() && i <= before.index; ++i) {
    auto records = ask_one(names[i], ask);
    if (records) {
      before.index = i;
      return Found{names[i], std::move(*records)};
    }
    // What can't be asked for now may be the right one: the next one could be somebody else's.
    const bool is_absent = records.error().reason == FailureReason::not_found;
    const bool is_passed = before.index < names.size() && i < before.index;
    if (!is_absent && !is_passed) return records.error();
  }
  return failure(FailureReason::not_found,
                 fmt::format("there is no {}", fmt::join(names, ", no ")));
}

// What a target is called: its first label. Empty: it can't be a replica's.
std::string host_name(std::string_view target) {
  const std::string_view label = target.substr(0, target.find('.'));
  const bool is_label =
      label.size() <= label_size_most && std::all_of(label.begin(), label.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  return std::string(is_label ? label : std::string_view());
}

struct Located {
  std::string name;  // in full
  std::uint16_t port = 0;
};

// By the replica's name.
Outcome<std::map<std::string, Located>> targets_of(const Found& found) {
  std::map<std::string, Located> targets;
  for (const ServiceRecord& service : found.records.services) {
    const std::string name = host_name(service.target);
    if (name.empty() || service.port == 0) {
      return failure(FailureReason::malformed,
                     fmt::format("{} leads to {}, port {}, which is no replica", found.name,
                                 quotation(service.target), service.port));
    }
    // The name server of Kubernetes gives a service that has an address of its own as the target.
    const std::string_view asked(found.name);
    if (asked.substr(0, asked.find_last_not_of('.') + 1).ends_with("." + service.target)) {
      return failure(FailureReason::malformed,
                     fmt::format("{} is a service with one address for all replicas; name a "
                                 "headless one (clusterIP: None)",
                                 service.target));
    }
    const auto [at, is_new] = targets.try_emplace(name, Located{service.target, service.port});
    if (at->second.name != service.target) {
      return failure(
          FailureReason::malformed,
          fmt::format("{} leads to both {} and {}: the first label of each must be a "
                      "name of its own",
                      found.name, quotation(at->second.name), quotation(service.target)));
    }
    at->second.port = std::min(at->second.port, service.port);
  }
  return targets;
}

// Of at least one.
IpAddress best_of(const std::vector<AddressRecord>& records) {
  return std::min_element(
             records.begin(), records.end(),
             [](const auto& a, const auto& b) { return is_better(a.address, b.address); })
      ->address;
}

Outcome<DnsAnswer> ask_by_service(const std::string& wanted, const SearchList& search,
                                  DnsFound& before, const DnsAsk& ask) {
  const auto found = search_for(wanted, search, before, ask_for_services, ask);
  if (!found) return found.error();
  const auto targets = targets_of(*found);
  if (!targets) return targets.error();
  std::map<std::string, IpAddress> additional;  // the best of each owner
  for (const AddressRecord& record : found->records.additional) {
    const auto [at, is_new] = additional.try_emplace(record.owner, record.address);
    if (is_better(record.address, at->second)) at->second = record.address;
  }
  DnsAnswer answer{found->name, {}, found->records.ttl};
  for (const auto& [name, at] : *targets) {
    DnsHost host{name, {}};
    if (const auto given = additional.find(at.name); given != additional.end()) {
      host.address = Endpoint{given->second.text(), at.port};
    } else {
      const auto asked = ask_for_addresses(at.name, ask);
      if (asked) {
        host.address = Endpoint{best_of(asked->addresses).text(), at.port};
        answer.ttl = std::min(answer.ttl, asked->ttl);
      } else if (asked.error().reason != FailureReason::not_found) {
        return asked.error();
      }  // else it has just gone: a member, nowhere at present
    }
    answer.hosts.push_back(std::move(host));
  }
  return answer;
}

Outcome<DnsAnswer> ask_by_address(const std::string& wanted, std::uint16_t port,
                                  const SearchList& search, DnsFound& before, const DnsAsk& ask) {
  const auto found = search_for(wanted, search, before, ask_for_addresses, ask);
  if (!found) return found.error();
  DnsAnswer answer{found->name, {}, found->records.ttl};
  for (const AddressRecord& record : found->records.addresses) {
    const std::string text = record.address.text();
    answer.hosts.push_back({text, Endpoint{text, port}});
  }
  return answer;
}

}  // namespace

std::vector<std::string> names_to_ask(const std::string& name, const SearchList& search) {
  if (name.ends_with('.')) return {name};
  std::vector<std::string> names;
  for (const std::string& domain : search.domains) {
    if (!domain.empty() && domain != ".") names.push_back(fmt::format("{}.{}", name, domain));
  }
  const bool is_long = std::count(name.begin(), name.end(), '.') >= search.ndots;
  names.insert(is_long ? names.begin() : names.end(), name);
  std::erase_if(names, [](const auto& each) { return each.size() > name_size_most; });
  return names;
}

Outcome<DnsAnswer> ask_for_hosts(const DnsTarget& target, const SearchList& search, DnsFound& found,
                                 const DnsAsk& ask) {
  if (const auto number = port_number(target.port)) {
    return ask_by_address(target.name, *number, search, found, ask);
  }
  const std::string port = target.port.empty() ? "http" : target.port;
  auto answer = ask_by_service(fmt::format("_{}._tcp.{}", port, target.name), search, found, ask);
  const bool was_never = found.index == found.names.size();
  if (answer || answer.error().reason != FailureReason::not_found || !was_never) return answer;
  // Nobody's replicas so far: say what to do about it.
  DnsFound elsewhere;
  const auto addresses = search_for(target.name, search, elsewhere, ask_for_addresses, ask);
  if (addresses) {
    return failure(FailureReason::not_found,
                   fmt::format("{} has addresses but no SRV records for a port named {}; name a "
                               "port that the service has, or write its number: {}:8080",
                               addresses->name, port, target.name));
  }
  return failure(FailureReason::not_found,
                 fmt::format("{}; a headless service has such records while a replica is ready: "
                             "look at the name, its namespace and the name of the port",
                             answer.error().message));
}

}  // namespace ringside::k8s
