#include "http1/head_text.h"

#include <fmt/format.h>

#include <array>

namespace ringside::http {
namespace {

constexpr std::string_view upgrade_lines = "Connection: Upgrade\r\nUpgrade: websocket\r\n";

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_status_line(std::string& out, int status, std::string_view reason) {
  // Three digits: who reads a status refuses others.
  const auto digit = [status](int unit) { return static_cast<char>('0' + status / unit % 10); };
  const std::array<char, 4> code{digit(100), digit(10), digit(1), ' '};
  out.append("HTTP/1.1 ").append(code.data(), code.size()).append(reason).append("\r\n");
}

}  // namespace

Delivery choose_delivery(int client_minor_version, bool length_is_known, bool keep_alive) noexcept {
  if (length_is_known) return {false, keep_alive};
  if (client_minor_version >= 1) return {true, keep_alive};
  return {false, false};  // HTTP/1.0 knows no other end than the connection's
}

void append_request_head(std::string& out, const hop::UpstreamRequest& request) {
  out.append(request.method).append(" ").append(request.target->path);
  if (request.target->has_query) out.append("?").append(request.target->query);
  out.append(" HTTP/1.1\r\n");
  append_field(out, "Host", request.host);
  out.append(request.fields);
  if (request.framing.kind == Framing::Kind::length) {
    append_field(out, "Content-Length", fmt::to_string(request.framing.length_bytes));
  } else if (request.framing.kind == Framing::Kind::chunked) {
    append_field(out, "Transfer-Encoding", "chunked");
  }
  if (request.expects_continue) append_field(out, "Expect", "100-continue");
  if (request.upgrades) out.append(upgrade_lines);
  out.append("\r\n");
}

void append_response_head(std::string& out, const Response& response, const Delivery& delivery,
                          int client_minor_version) {
  append_status_line(out, response.status, response.reason);
  out.append(response.shared_lines).append(response.fields.text());
  if (delivery.chunked) append_field(out, "Transfer-Encoding", "chunked");
  if (response.tunnel) {
    out.append(upgrade_lines);
  } else if (!delivery.keep_alive) {
    append_field(out, "Connection", "close");
  } else if (client_minor_version == 0) {
    append_field(out, "Connection", "keep-alive");
  }
  out.append("\r\n");
}

void append_interim_head(std::string& out, const ResponseHead& head) {
  append_status_line(out, head.status, head.reason);
  const HopByHop hop_by_hop(head.fields);
  for (const Field& field : head.fields) {
    if (is_internal(field.name) || hop_by_hop.has(field.name)) continue;
    append_field(out, field.name, field.value);
  }
  out.append("\r\n");
}

}  // namespace ringside::http
