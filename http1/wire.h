#pragma once

#include <functional>
#include <memory>

#include "hop/wire.h"
#include "http1/conversation.h"

namespace ringside::http {

// HTTP/1.1 on connections of the core's stack.
[[nodiscard]] const hop::Wire& wire() noexcept;

// One for each core, on whose thread alone it is used.
using MakeCrossing = std::function<std::unique_ptr<Crossing>(net::Core&)>;

// A server of that wire whose connections another wire may take.
[[nodiscard]] std::unique_ptr<hop::Server> serve(net::CoreGroup& cores, hop::ServerTerms terms,
                                                 const MakeCrossing& make_crossing);

}  // namespace ringside::http
