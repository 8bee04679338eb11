#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "http/head.h"

namespace ringside::http {

// Whom an admin server obeys.
struct AdminAccess {
  // What changes (all but GET and HEAD) must bring; empty: they are taken from loopback alone.
  std::string token;
  // Names, in lower case, that the server is reached by beside addresses and `localhost`;
  // `*.NAME`: all below it. A page whose own name was made to lead here (DNS rebinding) has
  // another.
  std::vector<std::string> hosts;
};

// Why a request is not looked at any further.
struct AdminRefusal {
  int status = 0;
  std::string text;  // with the remedy
};
[[nodiscard]] std::optional<AdminRefusal> refuse_access(const AdminAccess& access,
                                                        const RequestHead& request,
                                                        const IpAddress& from);

}  // namespace ringside::http
