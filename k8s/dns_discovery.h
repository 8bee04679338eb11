#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/limits.h"
#include "k8s/discovery.h"
#include "k8s/dns_target.h"

namespace ringside::k8s {

// How often name servers are asked, and for how long a missing replica is waited for.
struct DnsPace {
  Milliseconds interval_least = limits::dns_interval_least;
  Milliseconds interval_most = limits::dns_interval_most;
  Milliseconds round_most = limits::dns_interval_most;  // for all questions of a round
  Milliseconds timeout = limits::dns_timeout;
  int tries = limits::dns_tries;
  Milliseconds member_kept = limits::dns_member_kept;
};

struct DnsOptions {
  std::string servers;      // `address:port,…` to be asked instead of resolv.conf's; empty: those
  std::string resolv_conf;  // a file; empty: the system's
  DnsPace pace;
};

// How one round went.
struct DnsRound {
  bool answered = false;
  Seconds ttl{0};             // where answered: the smallest of the records
  unsigned failures = 0;      // else: in a row, this one too
  bool knows_members = true;  // from this round or an earlier one
};

// How long until the next: the records' TTL, within the pace's bounds; after failures the least,
// doubling up to the most, but always the least while there are no members to serve with.
// `jitter`: 0 to 1, of a tenth that is added, so that processes that started together drift apart.
[[nodiscard]] Milliseconds wait_before_next(const DnsPace& pace, const DnsRound& round,
                                            double jitter);

// Replicas as DNS tells of them, for those who may not ask the API server. Asks on a thread of its
// own, "dns". The clock outlives it.
[[nodiscard]] std::unique_ptr<Discovery> watch_dns(DnsTarget target, const Clock& clock,
                                                   Discovery::Follower follower,
                                                   DnsOptions options = {});

}  // namespace ringside::k8s
