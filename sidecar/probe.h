#pragma once

#include <string>

#include "base/address.h"
#include "base/error.h"
#include "base/task.h"
#include "hop/upstream.h"
#include "net/core.h"

namespace ringside::sidecar {

// Asks the replica of that name whether it is there: `OPTIONS *` with `Max-Forwards: 0`, which is
// for the server itself and means nothing but this (RFC 9110 §7.6.2, §9.3.7), on a new connection
// to the port that requests use. Any answer says yes. Waits at most limits::probe_timeout. An Error
// whose source is not the peer tells nothing of it. `upstreams` is for probes alone: in that of the
// requests a probe would wait behind those that it is to help.
Task<Result<void>> probe(net::Core& core, hop::Upstreams& upstreams, const std::string& name,
                         const Endpoint& address);

}  // namespace ringside::sidecar
