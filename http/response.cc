#include "http/response.h"

namespace ringside::http {

void Response::begin(int new_status, std::string_view new_reason) {
  status = new_status;
  reason = new_reason;
  shared_lines = {};
  shared_is_ready = false;
  owner.reset();
  fields.clear();
  body = {};
  length_is_known = true;
  head_waits = false;
  is_last = false;
  tunnel.reset();
}

}  // namespace ringside::http
