#include "k8s/api_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "k8s/api_connect.h"
#include "k8s/api_stream.h"
#include "k8s/api_tls.h"
#include "k8s/service_account.h"

namespace ringside::k8s {
namespace {

// What the layers below httplib's request find out; httplib itself only says that it failed.
struct Wiretap {
  Milliseconds connect_timeout;
  Milliseconds patience;
  IoPoint deadline;
  Halt& halt;
  std::optional<Failure> failure;  // of connecting
  std::optional<Halt::Hold> hold;
  std::optional<ApiStream> stream;  // while and after bytes were exchanged
};

// httplib's client with our own connecting, which can be ended, and our own stream.
template <class Base>
class Wire final : public Base {
 public:
  Wire(const std::string& name, const Endpoint& server, Wiretap& tap)
      : Base(name, server.port), server_(server), tap_(tap) {}

 private:
  using Socket = typename Base::Socket;

  bool create_and_connect_socket(Socket& socket, httplib::Error& error) override {
    auto connected = connect_to(server_, tap_.connect_timeout, tap_.halt);
    if (!connected) {
      tap_.failure = connected.error();
      error = httplib::Error::Connection;
      return false;
    }
    socket.sock = connected->release();
    tap_.hold.emplace(tap_.halt, socket.sock);
    return true;
  }

  bool process_socket(const Socket& socket,
                      std::function<bool(httplib::Stream&)> callback) override {
    // The handshake has made it a blocking one.
    ::fcntl(socket.sock, F_SETFL, ::fcntl(socket.sock, F_GETFL, 0) | O_NONBLOCK);
    tap_.stream.emplace(socket.sock, socket.ssl, tap_.patience, tap_.deadline);
    return callback(*tap_.stream);
  }

  Endpoint server_;
  Wiretap& tap_;
};

Failure failed(FailureReason reason, std::string message) {
  return {reason, std::move(message), std::nullopt};
}

bool is_loopback(const std::string& host) {
  const auto address = IpAddress::try_parse(host);
  return address ? address->is_loopback() : host == "localhost";
}

// Why there was no whole answer, by what the layers below saw.
Failure no_answer(const Access& access, const Wiretap& tap, const CertificateDoubt& doubt) {
  if (tap.halt.ordered()) return failed(FailureReason::unreachable, "stopped");
  const std::string server = "API server " + access.server.text();
  if (tap.failure) {
    return failed(tap.failure->reason,
                  fmt::format("API server {}; is it there, and is its address right ({})?",
                              tap.failure->message, access.origin));
  }
  if (!doubt.message.empty()) {
    return failed(FailureReason::other,
                  fmt::format("{} is not believed: {}; check the CA and the server name of {}",
                              server, doubt.message, access.origin));
  }
  if (!tap.stream) {
    return failed(FailureReason::unreachable,
                  fmt::format("{}: no TLS handshake within {} ms: {}; does it speak TLS 1.2 there?",
                              server, tap.connect_timeout.count(), last_tls_error()));
  }
  switch (tap.stream->end()) {
    case ApiStream::End::silent:
      return failed(FailureReason::unreachable,
                    fmt::format("{}: its answer did not come, or did not go on, in time", server));
    case ApiStream::End::closed:
      return failed(FailureReason::unreachable,
                    fmt::format("{}: it closed the connection before its answer ended", server));
    case ApiStream::End::broken:
      return failed(FailureReason::unreachable,
                    fmt::format("{}: the connection broke: {}", server, tap.stream->reason()));
    case ApiStream::End::none:
      break;
  }
  return failed(
      FailureReason::malformed,
      fmt::format("{}: its answer is no HTTP; is that an API server ({})?", server, access.origin));
}

// What came of an answer's bytes.
struct Reading {
  int status = 0;
  std::string retry_after;
  std::string refusal;   // the body of an answer that is no 200
  bool enough = false;   // the taker refused what came
  bool cut_off = false;  // the refusal is too long
};

void take_answer(httplib::Request& request, Reading& reading, Wiretap& tap, Milliseconds patience,
                 const ApiClient::Taker& take) {
  request.response_handler = [&reading, &tap, patience, &take](const httplib::Response& response) {
    reading.status = response.status;
    reading.retry_after = response.get_header_value("Retry-After");
    if (response.status != 200) return true;
    tap.stream->set_patience(patience);
    reading.enough = !take({});
    return !reading.enough;
  };
  request.content_receiver = [&reading, &take](const char* data, std::size_t size,
                                               std::uint64_t /*offset*/, std::uint64_t /*total*/) {
    if (reading.status == 200) {
      reading.enough = !take({data, size});
      return !reading.enough;
    }
    reading.cut_off = reading.refusal.size() + size > limits::api_refusal_size_bytes;
    if (!reading.cut_off) reading.refusal.append(data, size);
    return !reading.cut_off;
  };
}

template <class Base>
httplib::Result send(Wire<Base>& wire, const httplib::Request& request, Milliseconds timeout) {
  wire.set_connection_timeout(timeout);  // of the handshake: each of its waits
  wire.set_keep_alive(false);
  wire.set_follow_location(false);
  wire.set_decompress(false);
  wire.set_url_encode(false);
  return wire.send(request);
}

}  // namespace

Outcome<std::string> ApiClient::token() const {
  if (access_.token_file.empty() && access_.token.empty()) return std::string();
  if (!access_.tls && !is_loopback(access_.server.host)) {
    return failed(FailureReason::other,
                  fmt::format("API server {}: by http:// everybody on the way could read the token "
                              "of {}; use https://, or a kubectl proxy on this host",
                              access_.server.text(), access_.origin));
  }
  std::string token = access_.token;
  if (!access_.token_file.empty()) {
    auto read = read_credential(access_.token_file, "the token of " + access_.origin);
    if (!read) return failed(FailureReason::other, read.error().message);
    token = std::move(*read);
  }
  token.resize(token.find_last_not_of(" \t\r\n") + 1);
  const auto is_visible = [](char each) { return each > ' ' && each <= '~'; };
  if (std::all_of(token.begin(), token.end(), is_visible)) return token;
  return failed(FailureReason::other,
                fmt::format("the token of {} has bytes that no token has; is it the right file?",
                            access_.origin));
}

Outcome<void> ApiClient::ask(const std::string& path_and_query, const Question& question,
                             const Patience& patience, const Taker& take) {
  if (stopped()) return failed(FailureReason::unreachable, "stopped");
  auto bearer = token();
  if (!bearer) return bearer.error();

  httplib::Request request;
  request.method = "GET";
  request.path = access_.base_path + path_and_query;
  request.headers = {{"Host", access_.server.text()},
                     {"Accept", "application/json"},
                     {"Accept-Encoding", "identity"},
                     {"User-Agent", "ringside/" RINGSIDE_VERSION}};
  if (!bearer->empty()) request.headers.emplace("Authorization", "Bearer " + *bearer);

  const IoPoint deadline = std::chrono::steady_clock::now() + patience.whole;
  Wiretap tap{pace_.connect_timeout, patience.answer, deadline, halt_, {}, {}, {}};
  CertificateDoubt doubt;
  Reading reading;
  take_answer(request, reading, tap, patience.piece, take);
  std::optional<httplib::Result> result;
  if (access_.tls) {
    Wire<httplib::SSLClient> wire(server_name_indication(access_), access_.server, tap);
    wire.enable_server_certificate_verification(false);  // httplib's; OpenSSL's own is on
    if (auto prepared = prepare_tls(wire.ssl_context(), access_, doubt); !prepared) return prepared;
    result = send(wire, request, pace_.connect_timeout);
  } else {
    Wire<httplib::ClientImpl> wire(access_.server.host, access_.server, tap);
    result = send(wire, request, pace_.connect_timeout);
  }
  if (*result && reading.status == 0) reading.status = (*result)->status;  // without a body
  if (reading.status == 200 && (*result || reading.enough)) return {};
  if (reading.status == 0 || reading.status == 200) return no_answer(access_, tap, doubt);
  return failure_of(reading.status, reading.retry_after, reading.refusal, question, access_.origin);
}

Outcome<std::string> ApiClient::get(const std::string& path_and_query, const Question& question) {
  std::string body;
  bool too_large = false;
  const auto take = [&](std::string_view piece) {
    too_large = body.size() + piece.size() > limits::api_answer_size_bytes;
    if (!too_large) body += piece;
    return !too_large;
  };
  const Patience patience{pace_.answer_timeout, pace_.answer_timeout, pace_.answer_whole};
  auto asked = ask(path_and_query, question, patience, take);
  if (!asked) return asked.error();
  if (too_large) {
    return failed(FailureReason::malformed,
                  fmt::format("API server {}: its answer to {} {} has more than {} bytes",
                              access_.server.text(), question.verb, question.resource,
                              limits::api_answer_size_bytes));
  }
  return body;
}

Outcome<void> ApiClient::watch(const std::string& path_and_query, const Question& question,
                               const Taker& take) {
  return ask(path_and_query, question,
             {pace_.answer_timeout, pace_.watch_silence, pace_.watch_whole}, take);
}

}  // namespace ringside::k8s
