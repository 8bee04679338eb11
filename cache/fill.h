#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cache/core_state.h"
#include "cache/flight.h"
#include "hop/upstream.h"

namespace ringside::cache {

// What is known of a body before it is read.
struct FillTerms {
  bool keep = true;  // false: it is too large to be stored
  // Bytes that must come; nullopt: its framing says where it ends.
  std::optional<std::uint64_t> expected_bytes;
  std::size_t variants_most = limits::variants_per_key;
};

// Reads the body of a flight's fetch to its end, whoever of its readers stays, and stores what
// came. The flight was published; its exchange's head is read. Runs on the exchange's core, of its
// own.
//
// What turns out too large to store is still streamed to those who wait for it, at the pace of the
// fastest; if they all go, the fetch ends.
Task<void> fill(CoreState& state, std::shared_ptr<Flight> flight,
                std::unique_ptr<hop::Exchange> exchange, FillTerms terms);

}  // namespace ringside::cache
