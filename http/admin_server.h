#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/error.h"

namespace ringside::http {

// The administrators' HTTP server: loopback unless told otherwise, on threads of its own
// (cpp-httplib), never in the data path. Bodies above limits::admin_body_size_bytes get 413.
class AdminServer {
 public:
  struct Request {
    std::string_view path;
    std::string_view query;
    std::string_view body;
    // The value of `name` in the query string, decoded; empty where absent.
    std::function<std::string(std::string_view name)> parameter;
  };
  struct Answer {
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body;
  };
  using Handler = std::function<Answer(const Request&)>;  // called on an admin thread; thread-safe

  AdminServer();
  ~AdminServer();  // stops

  // Before start. One handler for a method ("GET", "PUT", "POST") and an exact path. Unknown paths
  // get 404 with the list of paths that exist, wrong methods 405 with Allow.
  void on(std::string method, std::string path, Handler handler);

  // Binds and serves in the background. Port 0 takes a free one. An Error names the address and the
  // remedy (port in use, no permission, not an address of this machine).
  [[nodiscard]] Result<void> start(const Endpoint& listen);
  [[nodiscard]] Endpoint address() const;  // with the port that was bound
  void stop();                             // idempotent; waits for handlers to return

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::http
