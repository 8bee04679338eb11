#pragma once

#include <string>

#include "http/head.h"

namespace ringside::http {

// A request's head that outlives the connection it came on.
class KeptRequest {
 public:
  explicit KeptRequest(const RequestHead& request);
  KeptRequest(const KeptRequest&) = delete;
  KeptRequest& operator=(const KeptRequest&) = delete;

  [[nodiscard]] const RequestHead& head() const noexcept { return head_; }

 private:
  std::string bytes_;
  RequestHead head_;  // views into bytes_
};

}  // namespace ringside::http
