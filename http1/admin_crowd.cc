#include "http1/admin_crowd.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::http {

AdminCrowd::Position AdminCrowd::enter(Connection& connection) {
  const IpAddress& from = connection.remote();
  std::size_t all = 0;
  std::size_t alike = 0;
  for (const Visitor& visitor : visitors_) {
    if (visitor.leaving) continue;
    ++all;
    if (visitor.connection.remote() == from) ++alike;
  }
  if (alike >= limits::admin_connections_per_address) {
    send_away(&from);
  } else if (all >= limits::admin_connections) {
    make_room();
  }
  return visitors_.insert(visitors_.end(), Visitor{connection});
}

void AdminCrowd::leave(Position visitor) { visitors_.erase(visitor); }

void AdminCrowd::turn_to(Position visitor, Phase phase) {
  visitor->phase = phase;
  visitors_.splice(visitors_.end(), visitors_, visitor);
}

void AdminCrowd::send_away(const IpAddress* of) {
  const auto found = std::find_if(visitors_.begin(), visitors_.end(), [of](const Visitor& visitor) {
    return !visitor.leaving && visitor.phase != Phase::in_hand &&
           (of == nullptr || visitor.connection.remote() == *of);
  });
  if (found == visitors_.end()) return;
  found->leaving = true;
  found->connection.close();
}

void AdminCrowd::dismiss() {
  for (Visitor& visitor : visitors_) {
    if (visitor.phase == Phase::asking) visitor.connection.close();
  }
}

}  // namespace ringside::http
