#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "base/task.h"
#include "net/core.h"
#include "net/name_answer.h"
#include "net/stack.h"
#include "net/waiter.h"

namespace ringside::net {

class NameLookup;

// The addresses of host names, as one core knows them: looked up when they are wanted, once for all
// who want the same, and remembered for their records' TTL.
//
// Where an expired name can't be looked up, because name servers fail or are silent, its old
// addresses are used for limits::resolve_stale_most: servers move far more seldom than name servers
// fail (RFC 8767, which gives days; an address can be another's by then, and we would store what it
// says). A name server that answers that the name does not exist is believed.
class Resolver {
 public:
  // `other_side`: whose names these are, for errors. `servers`: see NameLookup::start.
  Resolver(Core& core, ErrorSource other_side, std::string servers = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // The endpoints to be tried, in that order; at least one. Those of the better family come first
  // (RFC 6724), and each call begins with the next of them, so that all of a name's servers get
  // connections. Errors: unresolved; timeout where the deadline comes first or the core stops. The
  // resolver must outlive the call.
  Task<Result<std::vector<SocketAddress>>> resolve(const Endpoint& name, SteadyPoint deadline);

  // Forgets names that nobody wants and that are of no use any more. To be called now and then.
  // False: it knows none.
  bool forget_old();

 private:
  struct Known {
    std::vector<SocketAddress> addresses;
    SteadyPoint fresh_until{};
    SteadyPoint usable_until{};
    std::string failure;  // of the last lookup; empty where it found something
    SteadyPoint failed_until{};
    std::size_t turn = 0;  // whose address is the first one

    std::shared_ptr<NameLookup> lookup;  // while one is under way
    SteadyPoint lookup_since{};
    std::vector<std::shared_ptr<Waiter::Bell>> waiting;
  };
  void begin_lookup(const std::shared_ptr<Known>& known, const std::string& host);
  void learn(Known& known, NameAnswer answer) const;
  // Waits for the lookup under way. False: the deadline came, or a stale answer must do.
  Task<bool> wait_for_lookup(Known& known, SteadyPoint deadline);

  Core& core_;
  const ErrorSource other_side_;
  const std::string servers_;
  std::map<std::string, std::shared_ptr<Known>> known_;
};

}  // namespace ringside::net
