#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/task.h"
#include "cache/core_state.h"
#include "hop/upstream.h"
#include "http/target.h"
#include "tier/buckets.h"

namespace ringside::cache {

// What a replica asks another one that is no request of a client's: most often an OPTIONS that goes
// no further.
struct PeerQuestion {
  std::string_view method = "OPTIONS";
  http::Target target{"*", {}, false};
  std::string host;    // empty: the peer's
  std::string fields;  // lines that FieldLines could have made, beside those of every such question
  Milliseconds timeout{0};
};
// The Error tells why there is no answer, or that it was none of 2xx. The core must be ours.
[[nodiscard]] Task<Result<std::unique_ptr<hop::Exchange>>> ask_peer(CoreState& core,
                                                                    tier::Peer peer,
                                                                    PeerQuestion question);

// A peer's answer may tell of another topology than ours.
void hear_topology(CoreState& core, const http::ResponseHead& head);

// All of an answer's content; an Error where it is larger than that. Where it comes in several
// pieces, room for `usual_bytes` is made at once.
[[nodiscard]] Task<Result<std::string>> content_of(hop::Exchange& exchange, std::size_t most_bytes,
                                                   std::size_t usual_bytes = 0);

// A line about what is wrong with peers; see limits::peer_complaint_interval.
void complain(CoreState& core, std::string_view what);

// That a peer does not do its part: `what` is a verb with its object. What can't be understood, or
// is larger than it may be, comes from another version, and is complained of; whoever is away is
// seen elsewhere.
void tell_of_peer(CoreState& core, const tier::Peer& peer, std::string_view what,
                  const Error& error);

}  // namespace ringside::cache
