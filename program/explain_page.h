#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http1/admin_server.h"
#include "sidecar/sidecar.h"

namespace ringside::program {

// `{"url": "http://HOST/PATH", "method": "GET", "ip": "127.0.0.1", "headers": ["Name: value"]}`;
// all but the URL may be missing. The request is held to what is asked of a client's. An Error
// names the remedy.
[[nodiscard]] Result<sidecar::ExplainedRequest> parse_explain_request(std::string_view body);

// The page: what the sidecar has decided, what the replica told, and the verdict of both.
[[nodiscard]] std::string to_json(const sidecar::Explanation& told);

// `POST /explain`, of a process that has a sidecar. Thread-safe: one request at a time.
class ExplainPage {
 public:
  // The sidecar must outlive it, or stop() come first.
  void serve(http::AdminServer& server, sidecar::Sidecar& sidecar);
  // To be called before the sidecar stops.
  void stop();

 private:
  [[nodiscard]] http::AdminServer::Answer answer(sidecar::Sidecar& sidecar, std::string_view body);

  std::mutex mutex_;
  bool stopped_ = false;
};

}  // namespace ringside::program
