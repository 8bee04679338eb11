#pragma once

#include <memory>
#include <optional>

#include "cache/core_state.h"
#include "cache/flight.h"
#include "http/exchange.h"

namespace ringside::cache {

// Reads the body of a flight's fetch to its end, whoever of its readers stays, and stores what
// came. The flight was published; its exchange's head is read. Runs on the exchange's core, of its
// own.
//
// What turns out too large to store is still streamed to those who wait for it, at their pace; if
// they all go, the fetch ends.
http::Task<void> fill(CoreState& state, std::shared_ptr<Flight> flight,
                      std::unique_ptr<http::Exchange> exchange);

}  // namespace ringside::cache
