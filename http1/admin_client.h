#pragma once

#include <string>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"

namespace ringside::http {

struct AdminAnswer {
  int status = 0;
  std::string content_type;
  std::string body;
};

// Asks an admin server (http1/admin_server.h) and waits; for commands, on their own thread, never
// in the data path. `body` is sent as JSON where it is not empty. `timeout` is for connecting and
// for each wait. `token` is sent where it is not empty. Any status is an answer; an Error says that
// none came, from where and why, and names the remedy.
[[nodiscard]] Result<AdminAnswer> ask_admin(const Endpoint& server, const std::string& method,
                                            const std::string& path, const std::string& body,
                                            Milliseconds timeout, const std::string& token = "");

}  // namespace ringside::http
