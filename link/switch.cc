#include "link/switch.h"

#include <array>
#include <string>

#include "hop/upstream.h"
#include "http1/head_text.h"
#include "link/frame.h"

namespace ringside::link {
namespace {

// The version is the last digit: link/frame.h.
constexpr std::string_view protocol = "ringside-link/1";

}  // namespace

Task<Result<void>> switch_to_link(http::Connection& connection, std::string_view peer) {
  const http::Target asterisk{"*", {}, false};
  const std::string fields =
      "Max-Forwards: 0\r\nConnection: Upgrade\r\nUpgrade: " + std::string(protocol) + "\r\n";
  hop::UpstreamRequest request;
  request.method = "OPTIONS";
  request.target = &asterisk;
  request.host = peer;
  request.fields = fields;
  std::string& text = connection.head_space();
  text.clear();
  http::append_request_head(text, request);
  const std::array<std::string_view, 1> buffers{text};
  const auto written = co_await connection.write(buffers);
  if (!written) co_return written.error();
  http::ResponseHead& head = connection.response_head();
  const auto read =
      co_await connection.read_response(http::HeadLimits::between_hops(), request.method, head);
  if (!read) co_return read.error();
  const bool agreed =
      head.status == 101 && http::same_token(head.fields.first("upgrade").value_or(""), protocol);
  if (agreed) co_return Result<void>();
  co_return Error{ErrorKind::refused, ErrorSource::peer, Retry::yes, "it takes no link"};
}

bool asks_for_link(const http::RequestHead& request) {
  return request.method == "OPTIONS" && request.target == "*" &&
         http::same_token(request.fields.first("upgrade").value_or(""), protocol) &&
         request.framing.kind == http::Framing::Kind::none;
}

void make_switch_response(http::Response& response) {
  response.begin(101, "Switching Protocols");
  response.fields.add("Connection", "Upgrade");
  response.fields.add("Upgrade", protocol);
}

}  // namespace ringside::link
