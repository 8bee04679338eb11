#include "k8s/dns_membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/limits.h"

namespace ringside::k8s {
namespace {

struct Ordinals {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

bool is_dashed_address(std::string_view name) {
  std::string dotted(name);
  std::replace(dotted.begin(), dotted.end(), '-', '.');
  std::string colons(name);
  std::replace(colons.begin(), colons.end(), '-', ':');
  return IpAddress::try_parse(dotted) || IpAddress::try_parse(colons);
}

// By base, of the members; without those that can't be ordinals, being too far from each other.
std::map<std::string, Ordinals> ordinals_of(const DnsKnown& known) {
  std::map<std::string, Ordinals> all;
  for (const auto& [name, member] : known.members) {
    const auto found = ordinal_name(name);
    if (!found) continue;
    const auto [at, is_new] =
        all.try_emplace(found->base, Ordinals{found->ordinal, found->ordinal});
    at->second.first = std::min(at->second.first, found->ordinal);
    at->second.last = std::max(at->second.last, found->ordinal);
  }
  for (auto& [base, ordinals] : all) {
    const auto first = known.first_ordinals.find(base);
    if (first != known.first_ordinals.end()) {
      ordinals.first = std::min(ordinals.first, first->second);
    }
  }
  std::erase_if(all, [](const auto& entry) {
    return entry.second.last - entry.second.first >= limits::members;
  });
  return all;
}

// Counted, not listed: names from outside could make half a million of them.
std::size_t count_members(const DnsKnown& known, const std::map<std::string, Ordinals>& ordinals) {
  std::size_t count = 0;
  for (const auto& [base, range] : ordinals) count += range.last - range.first + 1;
  for (const auto& [name, member] : known.members) {
    const auto found = ordinal_name(name);
    if (!found || !ordinals.contains(found->base)) ++count;
  }
  return count;
}

}  // namespace

std::optional<OrdinalName> ordinal_name(std::string_view name) {
  constexpr std::size_t digits_most = 9;
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1);
  if (digits.empty() || digits.size() > digits_most) return std::nullopt;
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  OrdinalName read{std::string(name.substr(0, dash)), 0};
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), read.ordinal);
  const bool is_number = failure == std::errc{} && end == digits.data() + digits.size();
  if (!is_number || is_dashed_address(name)) return std::nullopt;
  return read;
}

Outcome<DnsKnown> with_answer(DnsKnown known, const std::vector<DnsHost>& hosts, SteadyPoint now,
                              Milliseconds kept) {
  // No answer counts for more than half: it takes two, however long this process was stopped.
  const auto passed =
      known.last_answer
          ? std::min(std::chrono::duration_cast<Milliseconds>(now - *known.last_answer), kept / 2)
          : Milliseconds{0};
  known.last_answer = now;
  for (auto& [name, member] : known.members) {
    member.address = {};
    member.missing += passed;
  }
  for (const DnsHost& host : hosts) known.members[host.name] = DnsMember{host.address, {}};
  std::erase_if(known.members, [kept](const auto& entry) { return entry.second.missing >= kept; });

  const auto ordinals = ordinals_of(known);
  known.first_ordinals.clear();
  for (const auto& [base, range] : ordinals) known.first_ordinals[base] = range.first;
  const std::size_t members = count_members(known, ordinals);
  if (members <= limits::members) return known;
  return Failure{FailureReason::malformed,
                 fmt::format("{} replicas; a tier has at most {}", members, limits::members),
                 {}};
}

DnsKnown without_answer(DnsKnown known) {
  known.last_answer.reset();
  return known;
}

Roster roster_of(const DnsKnown& known) {
  std::map<std::string, Replica> replicas;
  for (const auto& [base, ordinals] : ordinals_of(known)) {
    for (std::uint64_t n = ordinals.first; n <= ordinals.last; ++n) {
      Replica replica;
      replica.name = fmt::format("{}-{}", base, n);
      replicas.emplace(replica.name, replica);
    }
  }
  for (const auto& [name, member] : known.members) {
    Replica& replica = replicas[name];
    replica.name = name;
    replica.address = member.address;
    replica.ready = replica.serving = !member.address.host.empty();
  }
  Roster roster;
  for (auto& [name, replica] : replicas) roster.replicas.push_back(std::move(replica));
  return roster;
}

}  // namespace ringside::k8s
