#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/time.h"

namespace ringside::hop {

// Hears of the topologies that other members follow. Each request between members tells the id of
// the sender's, and an answer that of a replica which follows another one. Who hears of a topology
// that it has never followed is behind, or the other one is wrong: it has its own source of members
// read again, and takes nothing from the peer.
//
// Thread-safe. Costs a lock, so that it is called only where two ids differ.
class TopologyNews {
 public:
  // This process follows the topology of that id from now on.
  void follow(std::string_view id);
  // A peer does.
  void hear(std::string_view id, SteadyPoint now);

  // Called, on any thread, when the source is to be read again: at once, then after
  // limits::reread_pause that doubles up to limits::reread_pause_most until something is followed.
  // Must not block. Empty: members have no source that could be read, and never one has returned
  // that is called still.
  void read_again_by(std::function<void()> read_again);

 private:
  std::mutex mutex_;
  std::deque<std::string> followed_;  // limits::topologies_remembered at most, the newest last
  std::function<void()> read_again_;
  Milliseconds pause_{limits::reread_pause};
  SteadyPoint not_before_{};
};

}  // namespace ringside::hop
