#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/error.h"

namespace ringside::program {

// Who writes the state of the tier's scheme (shard/state.h). There is one, and all others route by
// what that one publishes: so no key is placed twice, and no shard is cut in two ways.
struct StateWriter {
  std::optional<Endpoint> at;  // its admin address; nullopt: this process itself
  bool operator==(const StateWriter&) const = default;

  // `self`, or `ADDRESS:PORT`.
  [[nodiscard]] static Result<StateWriter> parse(std::string_view text);
  [[nodiscard]] std::string text() const { return at ? at->text() : "self"; }
};

}  // namespace ringside::program
