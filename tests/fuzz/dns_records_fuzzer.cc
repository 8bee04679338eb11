// A name server's answer, and what is made of it: replicas' names and addresses.
#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "base/limits.h"
#include "k8s/dns_membership.h"
#include "k8s/dns_records.h"
#include "k8s/dns_round.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using k8s::DnsFound;
using k8s::DnsHost;
using k8s::DnsRecords;
using k8s::Failure;
using k8s::Outcome;
using k8s::RecordType;

Outcome<DnsRecords> read(std::string_view input) {
  return k8s::read_dns_records(
      {reinterpret_cast<const unsigned char*>(input.data()), input.size()});
}

void check_failure(const Failure& failure) {
  RINGSIDE_CHECK(!failure.message.empty());
  for (const char c : failure.message) RINGSIDE_CHECK(static_cast<unsigned char>(c) >= 0x20);
}

// By name and by address: hosts with names that may stand anywhere, each once, and an address or
// none; and members made of them.
void check_hosts(const DnsRecords& records, const std::string& port) {
  DnsFound found;
  const auto answer = k8s::ask_for_hosts({"tier.test", port}, {}, found,
                                         [&](const std::string&, RecordType) { return records; });
  if (!answer) return check_failure(answer.error());
  RINGSIDE_CHECK(!answer->hosts.empty() && answer->hosts.size() <= limits::members);
  std::set<std::string> names;
  for (const DnsHost& host : answer->hosts) {
    names.insert(host.name);
    RINGSIDE_CHECK(!host.name.empty() && host.name.size() <= 63);
    RINGSIDE_CHECK(std::all_of(host.name.begin(), host.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':';
    }));
    RINGSIDE_CHECK(host.address.port != 0 || host.address.host.empty());
    RINGSIDE_CHECK(host.address.host.empty() || IpAddress::try_parse(host.address.host));
  }
  const auto known = k8s::with_answer({}, answer->hosts, SteadyPoint{}, limits::dns_member_kept);
  if (!known) return check_failure(known.error());
  const auto replicas = k8s::roster_of(*known).replicas;
  RINGSIDE_CHECK(replicas.size() >= names.size() && replicas.size() <= limits::members);
}

}  // namespace

void examine(std::string_view input) {
  const auto records = read(input);
  if (!records) {
    RINGSIDE_CHECK(records.error().reason == k8s::FailureReason::malformed);
    return check_failure(records.error());
  }
  RINGSIDE_CHECK(*read(input) == *records);
  RINGSIDE_CHECK(records->services.size() <= limits::members);
  RINGSIDE_CHECK(records->addresses.size() <= limits::members);
  RINGSIDE_CHECK(records->ttl >= Seconds{0} && records->ttl <= Seconds{2'147'483'647});
  check_hosts(*records, "http");
  check_hosts(*records, "8080");
}

}  // namespace ringside::fuzz
