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

// The replicas that are not used because they have not proved membership, as whichever core was the
// last to speak to them has seen it. Thread-safe.
class UnprovenReplicas {
 public:
  // Names and addresses of members.
  using Key = std::pair<std::string, Endpoint>;

  // A new member, which nobody has spoken to yet.
  void expect(const Key& replica);
  // It has proved nothing. True where that is to be logged: it is news, or was said long ago.
  [[nodiscard]] bool refused(const Key& replica, const std::string& why, SteadyPoint now);
  // It has proved itself, or is not there to. True where the contrary was logged.
  [[nodiscard]] bool settled(const Key& replica);
  // Forgets who is no member any more.
  void keep(const tier::Membership& membership);

  // Whether it is true of every member that is anywhere, of which there is one.
  [[nodiscard]] bool are_all(const tier::Membership& membership) const;
  // A line for each that is a member: a core that has not heard yet that another is gone may have
  // added it once more.
  [[nodiscard]] std::vector<std::string> lines(const tier::Membership& membership) const;

 private:
  struct Row {
    std::string why;
    std::optional<SteadyPoint> logged;
  };
  mutable std::mutex mutex_;
  std::map<Key, Row> rows_;
};

}  // namespace ringside::sidecar
