#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "k8s/dns_records.h"
#include "k8s/failure.h"
#include "net/name_channel.h"

namespace ringside::k8s {

// Questions to the name servers, one after the other, on the caller's thread, which waits. It is
// opened anew for each round of them, so that a changed resolv.conf is followed.
class DnsChannel {
 public:
  // `wake_up`: a descriptor that, once readable, ends what is waited for. After `until` (by
  // `clock`) no question is waited for either.
  DnsChannel(const net::NameChannel::Terms& terms, int wake_up, const Clock& clock,
             SteadyPoint until);
  DnsChannel(const DnsChannel&) = delete;
  DnsChannel& operator=(const DnsChannel&) = delete;

  // Why nobody can be asked; absent: all is well, and only then the rest may be called.
  [[nodiscard]] std::optional<Failure> failure() const;
  [[nodiscard]] net::SearchList search() { return channel_.search_list(); }
  // By the name servers, of this very name.
  [[nodiscard]] Outcome<DnsRecords> ask(const std::string& name, RecordType type);
  // As text, the best first, at least one: by /etc/hosts, then the name servers and their search
  // list.
  [[nodiscard]] Outcome<std::vector<std::string>> addresses(const std::string& name);

 private:
  void wait_for(const bool& is_here);
  // False: woken, or too late.
  [[nodiscard]] bool wait();
  [[nodiscard]] int wait_most_ms() const;

  const int wake_up_;
  const Clock& clock_;
  const SteadyPoint until_;
  std::map<int, short> sockets_;  // what poll() waits for
  net::NameChannel channel_;      // last: it tells of its sockets until its end
};

}  // namespace ringside::k8s
