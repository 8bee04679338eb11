#pragma once

#include <string>

namespace ringside::k8s {

// Which DNS name the replicas are behind, and which port of theirs takes requests.
struct DnsTarget {
  std::string
      name;  // of the headless service, in lower case; a final `.` keeps the search list out
  std::string port;  // a name, of which there are SRV records, or a number; empty: `http`
  bool operator==(const DnsTarget&) const = default;
};

}  // namespace ringside::k8s
