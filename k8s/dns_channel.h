#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "k8s/dns_records.h"
#include "k8s/dns_round.h"
#include "k8s/failure.h"

struct ares_channeldata;

namespace ringside::k8s {

// Whom to ask, and for how long.
struct DnsServers {
  std::string addresses;    // `address:port,…`; empty: resolv.conf's
  std::string resolv_conf;  // a file; empty: the system's
  Milliseconds timeout{0};  // of the first try; doubling
  int tries = 1;
};

// A c-ares channel for the questions of one round, one after the other, on the caller's thread,
// which waits. It is opened anew for each round, so that a changed resolv.conf is followed.
class DnsChannel {
 public:
  // `wake_up`: a descriptor that, once readable, ends what is waited for. After `until` (by
  // `clock`) no question is waited for either.
  DnsChannel(const DnsServers& servers, int wake_up, const Clock& clock, SteadyPoint until);
  ~DnsChannel();
  DnsChannel(const DnsChannel&) = delete;
  DnsChannel& operator=(const DnsChannel&) = delete;

  // Why nobody can be asked; absent: all is well.
  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }
  [[nodiscard]] const SearchList& search() const noexcept { return search_; }
  // By the name servers, of this very name. Only where failure() is absent.
  [[nodiscard]] Outcome<DnsRecords> ask(const std::string& name, RecordType type);

 private:
  struct Reply;

  void open(const DnsServers& servers);
  void read_search_list();
  // False: woken, or too late.
  [[nodiscard]] bool wait();
  [[nodiscard]] int wait_most_ms() const;

  const int wake_up_;
  const Clock& clock_;
  const SteadyPoint until_;
  ares_channeldata* channel_ = nullptr;
  std::map<int, short> sockets_;  // c-ares's, which opens and closes them: what poll() waits for
  SearchList search_;
  std::optional<Failure> failure_;
};

}  // namespace ringside::k8s
