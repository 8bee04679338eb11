#pragma once

#include <cstddef>
#include <map>
#include <string_view>

#include "base/address.h"
#include "base/clock.h"

namespace ringside::sidecar {

// How often a client may use methods that few applications know. An answer to one makes its URL
// invalid on every replica (RFC 9111 §4.4), also where the origin took `FOO` for a GET: without a
// bound anybody could keep a URL out of the cache by that. Each client has
// limits::rare_methods_burst of them, and gets limits::rare_methods_per_second back. IPv6 clients
// count by /64. Of one core.
class MethodAllowance {
 public:
  // POST, PUT, PATCH, DELETE and the safe methods are not rare.
  [[nodiscard]] static bool is_rare(std::string_view method) noexcept;

  // Takes one of the client's; false: it has none left. Beyond limits::rare_method_clients those
  // who are not known yet share one client's.
  [[nodiscard]] bool take(const IpAddress& client, SteadyPoint now);

  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }

 private:
  struct Left {
    double count = 0;
    SteadyPoint at;
  };
  void forget_rested(SteadyPoint now);

  std::map<IpAddress, Left> clients_;
  Left others_;
  SteadyPoint looked_;
};

}  // namespace ringside::sidecar
