#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/error.h"
#include "base/task.h"
#include "hop/upstream.h"
#include "net/core.h"

namespace ringside::sidecar {

// A replica that has a key heeds nothing that is said without one, and says so
// (internal::unproven): its answer may be another country's. nullopt: it says no such thing.
[[nodiscard]] std::optional<Error> wants_proof(const http::ResponseHead& head);

struct Probed {
  std::string name;
  Endpoint address;
};

// Asks a replica whether it is there: `OPTIONS *` with `Max-Forwards: 0`, which is for the server
// itself and means nothing but this (RFC 9110 §7.6.2, §9.3.7), on a new connection to the port that
// requests use. Any answer says yes; returned is what it says that it has heeded (internal::heeded;
// 0: nothing). Waits at most limits::probe_timeout. An Error whose source is not the peer tells
// nothing of it. `upstreams` is for probes alone: in that of the requests a probe would wait behind
// those that it is to help. `lines` are further fields, and outlive the task.
Task<Result<std::uint64_t>> probe(net::Core& core, hop::Upstreams& upstreams, Probed replica,
                                  std::string_view lines);

}  // namespace ringside::sidecar
