#include "http1/admin_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include "base/limits.h"

namespace ringside::http {
namespace {

Error no_answer(const Endpoint& server, httplib::Error why) {
  const auto error = [&](ErrorKind kind, std::string_view what, std::string_view remedy) {
    return Error{kind, ErrorSource::peer, Retry::no,
                 fmt::format("{}: {}; {}", server.text(), what, remedy)};
  };
  switch (why) {
    case httplib::Error::Connection:
      return error(ErrorKind::refused, "nothing listens there",
                   "is it running, and is this its admin address?");
    case httplib::Error::ConnectionTimeout:
      return error(ErrorKind::timeout, "connecting took too long", "is the address right?");
    case httplib::Error::Read:
    case httplib::Error::Write:
      return error(ErrorKind::disconnected, "the connection ended or stalled before the answer did",
                   "look at the log of the process there");
    default:
      return error(ErrorKind::internal, httplib::to_string(why), "is this an admin address?");
  }
}

}  // namespace

Result<AdminAnswer> ask_admin(const Endpoint& server, const std::string& method,
                              const std::string& path, const std::string& body,
                              Milliseconds timeout, const std::string& token) {
  httplib::Client client(server.host, server.port);
  client.set_connection_timeout(timeout);
  client.set_read_timeout(timeout);
  client.set_write_timeout(timeout);
  client.set_keep_alive(false);

  httplib::Request request;
  request.method = method;
  request.path = path;
  if (!token.empty()) request.set_header("Authorization", "Bearer " + token);
  if (!body.empty()) {
    request.set_header("Content-Type", "application/json");
    request.body = body;
  }
  std::string received;
  bool too_large = false;
  request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t /*offset*/,
                                 std::uint64_t /*total*/) {
    too_large = received.size() + size > limits::admin_answer_size_bytes;
    if (!too_large) received.append(data, size);
    return !too_large;
  };
  const httplib::Result result = client.send(request);
  if (too_large) {
    return Error{ErrorKind::body_too_large, ErrorSource::peer, Retry::no,
                 fmt::format("{}: its answer has more than {} bytes; is this an admin address?",
                             server.text(), limits::admin_answer_size_bytes)};
  }
  if (!result) return no_answer(server, result.error());
  return AdminAnswer{result->status, result->get_header_value("Content-Type"), std::move(received)};
}

}  // namespace ringside::http
