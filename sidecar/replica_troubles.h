#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/clock.h"
#include "tier/membership.h"

namespace ringside::sidecar {

// The replicas that something is the matter with, as whichever core was the last to hear of them
// has seen it. Thread-safe.
class ReplicaTroubles {
 public:
  // Names and addresses of members.
  using Key = std::pair<std::string, Endpoint>;

  // A new member, which nobody has spoken to yet: it counts, and is not logged.
  void expect(const Key& replica, const std::string& what);
  // What is the matter: "does not answer". True where that is to be logged: it is news, or was said
  // long ago.
  [[nodiscard]] bool note(const Key& replica, const std::string& what, SteadyPoint now);
  // Nothing is any more. True where the contrary was logged and this is to be, too.
  [[nodiscard]] bool settled(const Key& replica);
  // Forgets who is no member any more.
  void keep(const tier::Membership& membership);

  // Whether it is true of every member that is anywhere, of which there is one.
  [[nodiscard]] bool are_all(const tier::Membership& membership) const;
  // Whether something is the matter with it.
  [[nodiscard]] bool has(const Key& replica) const;
  // A line for each that is a member: a core that has not heard yet that another is gone may have
  // added it once more.
  [[nodiscard]] std::vector<std::string> lines(const tier::Membership& membership) const;

 private:
  struct Row {
    std::string what;
    std::optional<SteadyPoint> logged;
    bool is_over = false;   // kept, so that what comes and goes is not logged each time
    bool was_told = false;  // since it began
  };
  mutable std::mutex mutex_;
  std::map<Key, Row> rows_;
};

// Of all cores of a sidecar.
struct Troubles {
  ReplicaTroubles unproven;  // not used, because they have not proved membership, or want a proof
  ReplicaTroubles silent;    // they do not answer; some are asked all the same
};

// Whether none of the members that are anywhere, of which there is one, can be used.
[[nodiscard]] bool none_can_be_used(const Troubles& troubles, const tier::Membership& membership);

}  // namespace ringside::sidecar
