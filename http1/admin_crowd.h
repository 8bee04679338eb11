#pragma once

#include <list>

#include "base/address.h"
#include "http1/connection.h"

namespace ringside::http {

// Who is connected to an admin server. Who comes always finds room: whoever has let us wait for
// longest makes it, of the same address where that has its share already. Nobody is sent away whose
// request is in hand; their number has a limit of its own. On the core's thread.
class AdminCrowd {
 public:
  enum class Phase {
    asking,    // the client is to send: a request, its head's rest or its body
    in_hand,   // a thread is at work on it
    answering  // the client is to take the answer
  };
  struct Visitor {
    Connection& connection;
    Phase phase = Phase::asking;
    bool leaving = false;  // was sent away
  };
  using Visitors = std::list<Visitor>;
  using Position = Visitors::iterator;

  Position enter(Connection& connection);
  void leave(Position visitor);
  void turn_to(Position visitor, Phase phase);
  // Sends away who lets us wait for longest, if anybody does.
  void make_room() { send_away(nullptr); }
  // Sends away all who are asking.
  void dismiss();

 private:
  void send_away(const IpAddress* of);  // null: of whatever address

  Visitors visitors_;  // whose phase began longest ago first
};

}  // namespace ringside::http
