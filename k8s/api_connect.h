#pragma once

#include "base/address.h"
#include "base/clock.h"
#include "k8s/failure.h"
#include "k8s/halt.h"

namespace ringside::k8s {

using IoPoint = std::chrono::steady_clock::time_point;

enum class Wake { ready, timeout, halted };
// Waits until the socket is ready for `events` (as poll(2) has them); `halt` null: nothing else
// ends it.
[[nodiscard]] Wake wait_for(int socket, short events, IoPoint until, const Halt* halt);

// A TCP connection to the server, non-blocking, with keepalive: a silent watch must be told from a
// server that is gone. Host names are looked up (/etc/hosts, then name servers) and their addresses
// tried in turn. It ends by itself after `timeout`, and at once when the halt is ordered.
[[nodiscard]] Outcome<Descriptor> connect_to(const Endpoint& server, Milliseconds timeout,
                                             const Halt& halt);

}  // namespace ringside::k8s
