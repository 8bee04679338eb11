#include "http1/admin_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <strings.h>

#include <exception>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/log.h"
#include "http1/admin_connections.h"

namespace ringside::http {
namespace {

using Methods = std::map<std::string, AdminServer::Handler, std::less<>>;
using Routes = std::map<std::string, Methods, std::less<>>;

// A connection as httplib wants to see it.
class Stream final : public httplib::Stream {
 public:
  explicit Stream(AdminWire& wire) : wire_(wire) {}
  ssize_t read(char* to, std::size_t size) override { return wire_.read(to, size); }
  ssize_t write(const char* from, std::size_t size) override { return wire_.write(from, size); }
  bool is_readable() const override { return true; }  // read() waits
  bool is_writable() const override { return wire_.is_writable(); }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  // Only asked by builds of httplib that wait with select(), to refuse what is above 1023; we poll.
  socket_t socket() const override { return 0; }

 private:
  AdminWire& wire_;
};

// httplib reads the request and writes the answer; nothing else of its server is used. (Making one
// sets SIGPIPE to be ignored in the whole process; we send with MSG_NOSIGNAL and don't need it.)
class Engine final : public httplib::Server {
 public:
  using AfterHead = std::function<void(httplib::Request&)>;
  // True when both passed whole. `last` is set where the client wants no further answer.
  bool serve(httplib::Stream& stream, bool& last, const AfterHead& after_head) {
    return process_request(stream, false, last, after_head);
  }
};

std::string allowed(const Methods& methods) {
  std::string out;
  for (const auto& [method, handler] : methods) {
    out += (out.empty() ? "" : ", ") + method;
    if (method == "GET") out += ", HEAD";
  }
  return out;
}

bool has_content(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") &&
          request.get_header_value("Content-Length") != "0");
}

bool is_too_large(const httplib::Request& request) {
  return !request.has_header("Transfer-Encoding") &&
         request.get_header_value<std::uint64_t>("Content-Length") > limits::admin_body_size_bytes;
}

// Whether a page of another site has made a browser send this: it could drain or purge what only
// this machine can reach. Programs send no Origin.
bool is_from_another_site(const httplib::Request& request) {
  if (request.method == "GET" || request.method == "HEAD" || !request.has_header("Origin")) {
    return false;
  }
  const std::string origin = request.get_header_value("Origin");
  const auto scheme_end = origin.find("://");
  return scheme_end == std::string::npos ||
         origin.substr(scheme_end + 3) != request.get_header_value("Host");
}

void answer(httplib::Response& out, int status, const std::string& body) {
  out.status = status;
  out.set_content(body, "text/plain; charset=utf-8");
}

httplib::Server::HandlerResponse answer_too_large(httplib::Response& out) {
  answer(out, 413,
         fmt::format("413: the body may have {} bytes at most\n", limits::admin_body_size_bytes));
  return httplib::Server::HandlerResponse::Handled;
}

// What httplib would do by itself and we don't want: cut the answer (RFC 9110 §14.2 allows to
// ignore Range), pack it, take a form apart.
void make_plain(httplib::Request& request) {
  request.ranges.clear();
  request.headers.erase("Accept-Encoding");
  request.headers.erase("Content-Type");
}

}  // namespace

struct AdminServer::Impl {
  Impl();
  bool exchange(AdminWire& wire);
  httplib::Server::HandlerResponse before_body(const httplib::Request& in,
                                               httplib::Response& out) const;
  void with_body(const httplib::Request& in, httplib::Response& out,
                 const httplib::ContentReader& read) const;
  void route(const httplib::Request& in, std::string_view body, httplib::Response& out) const;
  void not_found(httplib::Response& out) const;

  Routes routes;  // not changed after start
  bool started = false;
  Engine engine;
  AdminConnections connections{[this](AdminWire& wire) { return exchange(wire); }};
};

AdminServer::Impl::Impl() {
  using Handled = httplib::Server::HandlerResponse;
  engine.set_pre_routing_handler(
      [this](const auto& in, auto& out) { return before_body(in, out); });
  const auto body_handler = [this](const auto& in, auto& out, const auto& read) {
    with_body(in, out, read);
  };
  const std::string any_path = "[\\s\\S]*";
  engine.Put(any_path, httplib::Server::HandlerWithContentReader(body_handler));
  engine.Post(any_path, httplib::Server::HandlerWithContentReader(body_handler));
  engine.Patch(any_path, httplib::Server::HandlerWithContentReader(body_handler));
  engine.Delete(any_path, httplib::Server::HandlerWithContentReader(body_handler));
  engine.set_payload_max_length(limits::admin_body_size_bytes);
  engine.set_expect_100_continue_handler([](const httplib::Request& in, httplib::Response& out) {
    if (!is_too_large(in)) return 100;
    answer_too_large(out);
    return 413;
  });
  // Without a body it is httplib's own answer, to a head that it could not read.
  const httplib::Server::HandlerWithResponse on_error = [](const httplib::Request&,
                                                           httplib::Response& out) {
    if (out.body.empty()) {
      answer(out, out.status,
             fmt::format("{}: not a request that is understood here\n", out.status));
      out.set_header("Connection", "close");
    }
    return Handled::Handled;
  };
  engine.set_error_handler(on_error);
  engine.set_post_routing_handler([](const httplib::Request&, httplib::Response& out) {
    out.headers.erase("Keep-Alive");     // httplib's own timeout, which does not hold here
    out.headers.erase("Accept-Ranges");  // they are not
    out.set_header("Cache-Control", "no-store");
    out.set_header("X-Content-Type-Options", "nosniff");
  });
}

// One request and its answer; false where the connection must end after it.
bool AdminServer::Impl::exchange(AdminWire& wire) {
  bool understood = false;
  bool last = false;
  const Engine::AfterHead after_head = [&](httplib::Request& request) {
    understood = true;
    // What is left of a body that was not wanted must not be read as the next request: whatever has
    // content is the last on its connection.
    last = has_content(request) ||
           ::strcasecmp(request.get_header_value("Connection").c_str(), "close") == 0;
    request.headers.erase("Connection");
    if (last) request.set_header("Connection", "close");  // makes httplib say so in the answer
    make_plain(request);
    wire.begin_body();
  };
  bool closed = false;
  Stream stream(wire);
  try {
    const bool passed = engine.serve(stream, closed, after_head);
    return passed && understood && !closed && !last;
  } catch (const std::exception& error) {  // not a handler's: those are caught in route()
    log::error("an admin connection was given up: {}", error.what());
    return false;
  }
}

// All that has no content is answered here. httplib would read a POST without Content-Length, which
// curl sends, until the client gives up; by RFC 9112 §6.3 it has no content.
httplib::Server::HandlerResponse AdminServer::Impl::before_body(const httplib::Request& in,
                                                                httplib::Response& out) const {
  using Handled = httplib::Server::HandlerResponse;
  const std::string coding = in.get_header_value("Transfer-Encoding");
  if (!coding.empty() && ::strcasecmp(coding.c_str(), "chunked") != 0) {
    answer(out, 501, "501: no transfer coding but chunked is understood here\n");
    return Handled::Handled;
  }
  if (is_too_large(in)) return answer_too_large(out);
  const bool reads_body =
      in.method == "PUT" || in.method == "POST" || in.method == "PATCH" || in.method == "DELETE";
  if (reads_body && has_content(in)) return Handled::Unhandled;
  route(in, {}, out);
  return Handled::Handled;
}

void AdminServer::Impl::with_body(const httplib::Request& in, httplib::Response& out,
                                  const httplib::ContentReader& read) const {
  std::string body;
  bool too_large = false;  // a chunked or packed body shows its size only here
  const httplib::ContentReceiver receive = [&](const char* piece, std::size_t size) {
    too_large = body.size() + size > limits::admin_body_size_bytes;
    if (!too_large) body.append(piece, size);
    return !too_large;
  };
  const bool whole = read(receive);
  if (too_large) {
    answer_too_large(out);
  } else if (!whole) {
    answer(out, 400, "400: the body ended early, came too slowly or is malformed\n");
  } else {
    route(in, body, out);
  }
}

void AdminServer::Impl::route(const httplib::Request& in, std::string_view body,
                              httplib::Response& out) const {
  const auto methods = routes.find(in.path);
  if (methods == routes.end()) return not_found(out);
  const auto found = methods->second.find(in.method == "HEAD" ? "GET" : in.method);
  if (found == methods->second.end()) {
    const std::string allow = allowed(methods->second);
    out.set_header("Allow", allow);
    return answer(out, 405, fmt::format("405: {} takes {}\n", methods->first, allow));
  }
  if (is_from_another_site(in)) {
    return answer(out, 403, "403: a page of another site may not change anything here\n");
  }
  const auto query = in.target.find('?');
  const Request request{in.path,
                        query == std::string::npos ? std::string_view{}
                                                   : std::string_view(in.target).substr(query + 1),
                        body};
  try {
    Answer made = found->second(request);
    out.status = made.status;
    out.set_content(made.body, made.content_type);
  } catch (const std::exception& error) {
    log::error("admin {} {} failed: {}", in.method, in.path, error.what());
    answer(out, 500, fmt::format("500: {}\n", error.what()));
  } catch (...) {
    log::error("admin {} {} failed with something that is no std::exception", in.method, in.path);
    answer(out, 500, "500: the handler failed\n");
  }
}

void AdminServer::Impl::not_found(httplib::Response& out) const {
  std::string text = "404: no such path. These are:\n";
  for (const auto& [path, methods] : routes) {
    text += fmt::format("  {} {}\n", allowed(methods), path);
  }
  answer(out, 404, text);
}

AdminServer::AdminServer() : impl_(std::make_unique<Impl>()) {}

AdminServer::~AdminServer() { stop(); }

void AdminServer::on(std::string method, std::string path, Handler handler) {
  RINGSIDE_CHECK(!impl_->started);
  const bool is_new =
      impl_->routes[std::move(path)].emplace(std::move(method), std::move(handler)).second;
  RINGSIDE_CHECK(is_new);
}

Result<void> AdminServer::start(const Endpoint& listen) {
  auto started = impl_->connections.start(listen);
  impl_->started = started.has_value();
  return started;
}

Endpoint AdminServer::address() const { return impl_->connections.address(); }

void AdminServer::stop() { impl_->connections.stop(); }

}  // namespace ringside::http
