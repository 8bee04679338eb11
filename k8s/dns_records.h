#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/clock.h"
#include "k8s/failure.h"

namespace ringside::k8s {

enum class RecordType : std::uint16_t { a = 1, aaaa = 28, srv = 33 };

struct ServiceRecord {
  std::string target;
  std::uint16_t port = 0;
  bool operator==(const ServiceRecord&) const = default;
};

struct AddressRecord {
  std::string owner;
  IpAddress address;
  bool operator==(const AddressRecord&) const = default;
};

// What we use of a name server's answer. Names are in lower case, without a final dot.
struct DnsRecords {
  std::vector<ServiceRecord> services;    // of the answer section
  std::vector<AddressRecord> addresses;   // of the answer section, behind an alias or not
  std::vector<AddressRecord> additional;  // of the additional section
  Seconds ttl{0};                         // the smallest of theirs
  bool operator==(const DnsRecords&) const = default;
};

// The bytes of an answer (RFC 1035 §4). Malformed: a record that does not fit or makes no sense,
// more than limits::members in the answer section, or an answer that was cut even over TCP: of
// half the members nothing can be said.
[[nodiscard]] Outcome<DnsRecords> read_dns_records(std::span<const unsigned char> message);

}  // namespace ringside::k8s
