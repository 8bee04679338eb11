#include "http1/head_text.h"

#include <fmt/format.h>

#include "http/date.h"

namespace ringside::http {

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_joined(std::string& out, std::string_view name,
                   const std::optional<std::string>& before, std::string_view value) {
  out.append(name).append(": ");
  if (before && !before->empty()) out.append(*before).append(", ");
  out.append(value).append("\r\n");
}

void append_request_start(std::string& out, std::string_view method, const Target& target,
                          std::string_view host) {
  out.append(method).append(" ").append(target.path);
  if (target.has_query) out.append("?").append(target.query);
  out.append(" HTTP/1.1\r\n");
  append_field(out, "Host", host);
}

void append_framing(std::string& out, const Framing& framing) {
  if (framing.kind == Framing::Kind::length) {
    append_field(out, "Content-Length", fmt::to_string(framing.length_bytes));
  } else if (framing.kind == Framing::Kind::chunked) {
    append_field(out, "Transfer-Encoding", "chunked");
  }
}

void append_date_if_absent(std::string& out, const Fields& fields, TimePoint now) {
  if (fields.has("date")) return;
  const auto date = format_date(now);
  append_field(out, "Date", {date.data(), date.size()});
}

void append_expectation(std::string& out, const RequestHead& request) {
  const bool body_follows = request.framing.kind != Framing::Kind::none;
  if (request.expects_continue && body_follows) append_field(out, "Expect", "100-continue");
}

void append_upgrade(std::string& out) {
  out.append("Connection: Upgrade\r\nUpgrade: websocket\r\n");
}

void append_max_forwards(std::string& out, const Hop& hop) {
  if (hop.max_forwards) append_field(out, "Max-Forwards", fmt::to_string(*hop.max_forwards));
}

void append_via(std::string& out, const RequestHead& request, std::string_view own_via) {
  append_joined(out, "Via", request.fields.combined("via"),
                via_member(request.minor_version, own_via));
}

}  // namespace ringside::http
