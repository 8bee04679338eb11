#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "hop/peer_proof.h"
#include "program/configuration.h"

namespace ringside::program {

using PeerKeysPointer = std::shared_ptr<const hop::PeerKeys>;

// What the file of --peer-key-file has; null where none is given. The Error names the place, what
// is wrong, and the remedy; never the key.
[[nodiscard]] Result<PeerKeysPointer> load_peer_keys(const Configuration& configuration);

// Settings of either half with these keys.
template <class Settings>
[[nodiscard]] std::shared_ptr<const Settings> with_peer_keys(const Settings& settings,
                                                             PeerKeysPointer keys) {
  auto out = std::make_shared<Settings>(settings);
  out->peer_keys = std::move(keys);
  return out;
}

}  // namespace ringside::program
