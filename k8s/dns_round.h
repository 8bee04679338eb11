#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "k8s/dns_membership.h"
#include "k8s/dns_records.h"
#include "k8s/dns_target.h"
#include "k8s/failure.h"
#include "net/search_list.h"

namespace ringside::k8s {

using net::SearchList;

// The names that a name may stand for, in the order in which they are asked for.
[[nodiscard]] std::vector<std::string> names_to_ask(const std::string& name,
                                                    const SearchList& search);

// One question to the name servers. not_found: they say that there is no such record.
using DnsAsk = std::function<Outcome<DnsRecords>(const std::string& name, RecordType type)>;

struct DnsAnswer {
  std::string name;            // that has the records: `_http._tcp.` and so on
  std::vector<DnsHost> hosts;  // at least one
  Seconds ttl{0};              // the smallest
  bool operator==(const DnsAnswer&) const = default;
};

// Which of names_to_ask had the records when last there were any. Once one had them those after it
// are not asked any more: in another domain the name would be somebody else's, and a service whose
// replicas are all away for a moment must not turn into that. Those before it are, for they come
// first; that they fail does not matter then.
struct DnsFound {
  std::vector<std::string> names;  // they have changed: all begins anew
  std::size_t index = 0;           // names.size(): none so far
};

// All questions of one round: SRV of the port by its name, with the addresses that came with it or
// else a question for each target; or A, and AAAA where there is no A, of the name itself. Of each
// target one address is taken: IPv4 before IPv6, then the smaller, so that every process takes the
// same. Not a function of values alone: it asks.
[[nodiscard]] Outcome<DnsAnswer> ask_for_hosts(const DnsTarget& target, const SearchList& search,
                                               DnsFound& found, const DnsAsk& ask);

}  // namespace ringside::k8s
