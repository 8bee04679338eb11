#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/error.h"
#include "http1/admin_access.h"

namespace ringside::http {

// The administrators' HTTP server: loopback unless told otherwise, on a core and threads of its
// own, never in the data path. Bodies above limits::admin_body_size_bytes get 413, packed ones 415.
// A connection holds no thread but while its handler runs.
class AdminServer {
 public:
  struct Request {
    std::string_view path;
    std::string_view query;
    std::string_view body;
  };
  struct Answer {
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body;
  };
  using Handler = std::function<Answer(const Request&)>;  // thread-safe; may block

  AdminServer();
  ~AdminServer();  // stops

  // Before start. One handler for a method ("GET", "PUT", "POST") and an exact path. Unknown paths
  // get 404 with the list of paths that exist, wrong methods 405 with Allow. HEAD is answered by
  // the handler of GET. What a handler throws is logged and answered with 500.
  void on(std::string method, std::string path, Handler handler);
  // The same for a handler that never waits: it is called on the server's core, so that it answers
  // even while others block all threads.
  void on_quick(std::string method, std::string path, Handler handler);

  // Whom it obeys from now on; at first those on this machine. Not from a handler.
  void set_access(const AdminAccess& access);

  // Binds and serves in the background. Port 0 takes a free one. An Error names the address and the
  // remedy (port in use, no permission, not an address of this machine).
  [[nodiscard]] Result<void> start(const Endpoint& listen);
  [[nodiscard]] Endpoint address() const;  // with the port that was bound
  // Idempotent; waits for the answers in hand, not for idle clients. Not from a handler. A stopped
  // server is not started again.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::http
