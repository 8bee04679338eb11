#pragma once

#include <string_view>

#include "base/error.h"
#include "base/task.h"
#include "hop/peer_proof.h"
#include "http1/connection.h"

namespace ringside::http {

// On a connection that we have just opened, before anything else is said on it: both ends prove
// that they know the tier's key (hop/peer_handshake.h), the other one that it is `peer`. Until the
// deadline that the connection has. After an Error it is of no use; ErrorKind::untrusted is of who
// has proved nothing, and has the remedy. All must outlive the task.
Task<Result<hop::ProvenPeer>> introduce(Connection& connection, const hop::PeerIdentity& self,
                                        std::string_view peer);

}  // namespace ringside::http
