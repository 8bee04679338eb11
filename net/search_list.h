#pragma once

#include <string>
#include <vector>

namespace ringside::net {

// `search` and `ndots` of resolv.conf(5).
struct SearchList {
  std::vector<std::string> domains;
  int ndots = 1;
};

}  // namespace ringside::net
