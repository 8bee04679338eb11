#pragma once

#include <string>

#include "hop/upstream.h"
#include "http/head.h"
#include "http/response.h"

// All heads that are sent as HTTP/1.1 are written here (RFC 9112 §2.1). Each appends to `out`.
namespace ringside::http {

// How a response's content is framed for this client, and whether the connection goes on after it
// (RFC 9112 §6.3, §9.3).
struct Delivery {
  bool chunked = false;
  bool keep_alive = true;
};
[[nodiscard]] Delivery choose_delivery(int client_minor_version, bool length_is_known,
                                       bool keep_alive) noexcept;

void append_request_head(std::string& out, const hop::UpstreamRequest& request);
void append_response_head(std::string& out, const Response& response, const Delivery& delivery,
                          int client_minor_version);
// Of a 1xx response that is passed on.
void append_interim_head(std::string& out, const ResponseHead& head);

}  // namespace ringside::http
