#pragma once

#include "net/loop.h"
#include "net/transport.h"

namespace ringside::net {

// A TCP socket. The socket is connected.
[[nodiscard]] std::unique_ptr<Transport> make_transport(Socket socket);

}  // namespace ringside::net
