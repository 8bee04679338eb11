#include "k8s/api_client.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "k8s/api_tls.h"
#include "k8s/dns_channel.h"
#include "k8s/service_account.h"

namespace ringside::k8s {
namespace {

using IoPoint = std::chrono::steady_clock::time_point;

IoPoint now() { return std::chrono::steady_clock::now(); }

Failure failed(FailureReason reason, std::string message) {
  return {reason, std::move(message), std::nullopt};
}

Failure stopped_failure() { return failed(FailureReason::unreachable, "stopped"); }

bool is_loopback(const std::string& host) {
  const auto address = IpAddress::try_parse(host);
  return address ? address->is_loopback() : host == "localhost";
}

// One question and what came of it; httplib itself only says that it failed.
struct Asking {
  Milliseconds silence_most;
  IoPoint deadline;
  IoPoint heard;  // from the server, last
  int status = 0;
  std::string retry_after;
  std::string refusal;  // the body of an answer that is no 200
  bool enough = false;  // the taker refused what came
  CertificateDoubt doubt;

  // The deadline is looked at where something comes; httplib bounds the silence between.
  [[nodiscard]] bool in_time() {
    heard = now();
    return heard < deadline;
  }
  [[nodiscard]] bool was_late() const { return now() >= std::min(deadline, heard + silence_most); }
};

void take_answer(httplib::Request& request, Asking& asking, const ApiClient::Taker& take) {
  request.response_handler = [&asking, &take](const httplib::Response& response) {
    asking.status = response.status;
    asking.retry_after = response.get_header_value("Retry-After");
    if (response.status == 200) asking.enough = !take({});
    return asking.in_time() && !asking.enough;
  };
  request.content_receiver = [&asking, &take](const char* data, std::size_t size,
                                              std::uint64_t /*offset*/, std::uint64_t /*total*/) {
    if (!asking.in_time()) return false;
    if (asking.status == 200) {
      asking.enough = !take({data, size});
      return !asking.enough;
    }
    const std::size_t room = limits::api_refusal_size_bytes - asking.refusal.size();
    asking.refusal.append(data, std::min(size, room));
    return size <= room;
  };
}

httplib::Request request_for(const Access& access, const std::string& path_and_query,
                             const std::string& bearer) {
  httplib::Request request;
  request.path = access.base_path + path_and_query;
  request.headers = {{"Host", access.server.text()},
                     {"Accept", "application/json"},
                     {"Accept-Encoding", "identity"},
                     {"User-Agent", "ringside/" RINGSIDE_VERSION}};
  if (!bearer.empty()) request.headers.emplace("Authorization", "Bearer " + bearer);
  return request;
}

// A silent watch must be told from a server that is gone.
void set_keepalive(int socket) {
  const auto set = [socket](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(limits::api_keepalive_idle.count()));
  set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(limits::api_keepalive_interval.count()));
  set(IPPROTO_TCP, TCP_KEEPCNT, limits::api_keepalive_probes);
}

Outcome<std::unique_ptr<httplib::ClientImpl>> client_for(const Access& access,
                                                         const MemoryFile* authorities,
                                                         CertificateDoubt& doubt) {
  const int port = access.server.port;
  if (!access.tls) return std::make_unique<httplib::ClientImpl>(access.server.host, port);
  auto client = std::make_unique<httplib::SSLClient>(expected_name(access), port);
  client->enable_server_certificate_verification(!access.insecure);
  if (authorities != nullptr) client->set_ca_cert_path(authorities->path());
  if (auto prepared = prepare_tls(client->ssl_context(), access, doubt); !prepared) {
    return prepared.error();
  }
  return client;
}

// Success where there was a whole answer. httplib's stop() waits for a connection that is being
// made, and is forgotten where none is yet; so the halt has hold of the socket from its beginning.
httplib::Error send(httplib::ClientImpl& client, httplib::Request& request, Asking& asking,
                    Milliseconds connect_timeout, Halt& halt) {
  std::optional<Halt::Hold> hold;
  client.set_socket_options([&](int socket) {
    set_keepalive(socket);
    hold.emplace(halt, socket);
  });
  client.set_connection_timeout(connect_timeout);  // and of each wait of the handshake
  client.set_read_timeout(asking.silence_most);
  client.set_write_timeout(asking.silence_most);
  client.set_tcp_nodelay(true);
  client.set_decompress(false);
  client.set_url_encode(false);
  asking.heard = now();
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  if (client.send(request, response, error)) {
    asking.status = response.status;  // without a body nobody told
    return httplib::Error::Success;
  }
  return error == httplib::Error::Success ? httplib::Error::Connection : error;
}

// Where it is, as text. A name is looked up here, for getaddrinfo(3), which httplib would ask,
// can't be stopped.
Outcome<std::vector<std::string>> addresses_of(const Endpoint& server, Milliseconds timeout,
                                               const Halt& halt) {
  if (IpAddress::try_parse(server.host)) return std::vector{server.host};
  const SystemClock clock;
  DnsChannel names({}, halt.descriptor(), clock, clock.steady_now() + timeout);
  auto found = names.failure() ? Outcome<std::vector<std::string>>(*names.failure())
                               : names.addresses(server.host);
  if (found) return found;
  return failed(FailureReason::unreachable,
                fmt::format("API server {}: {}", server.text(), found.error().message));
}

// Why there was no whole answer.
Failure no_answer(const Access& access, const Asking& asking, Milliseconds connect_timeout,
                  httplib::Error error) {
  const std::string server = "API server " + access.server.text();
  const auto unreachable = [&](std::string_view why) {
    return failed(FailureReason::unreachable, fmt::format("{}: {}", server, why));
  };
  switch (error) {
    case httplib::Error::ConnectionTimeout:
      return unreachable(
          fmt::format("no connection within {} ms; is it there, and is its address right ({})?",
                      connect_timeout.count(), access.origin));
    case httplib::Error::SSLConnection:
      return unreachable(
          fmt::format("no TLS handshake within {} ms: {}; does it speak TLS 1.2 "
                      "there?",
                      connect_timeout.count(), first_tls_error()));
    case httplib::Error::SSLLoadingCerts:
      return failed(FailureReason::other,
                    fmt::format("{} has no certificate in PEM format", asking.doubt.believed));
    case httplib::Error::SSLServerVerification:
      return failed(
          FailureReason::other,
          fmt::format("{} is not believed: {}; check the CA and the server name of {}", server,
                      asking.doubt.message.empty()
                          ? "its certificate is not for " + asking.doubt.expected
                          : asking.doubt.message,
                      access.origin));
    case httplib::Error::Read:
    case httplib::Error::Write:
    case httplib::Error::Canceled:
      if (asking.was_late()) {
        return unreachable("its answer did not come, or did not go on, in time");
      }
      if (asking.status != 0) {
        return unreachable("it closed the connection before its answer ended, or that broke");
      }
      return unreachable(
          fmt::format("it closed the connection before it answered, or that broke, or what it says "
                      "is no HTTP; is that an API server ({})?",
                      access.origin));
    default:
      return unreachable(
          fmt::format("nothing listens there, or nothing leads there; is it there, "
                      "and is its address right ({})?",
                      access.origin));
  }
}

// Nothing was said yet, so that another address may be tried.
bool is_unconnected(httplib::Error error) {
  return error == httplib::Error::Connection || error == httplib::Error::ConnectionTimeout;
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
                             const Patience& patience, const Taker& take, const Content& content) {
  if (stopped()) return stopped_failure();
  const auto bearer = token();
  if (!bearer) return bearer.error();
  const auto authorities = authorities_of(access_);
  if (!authorities) return authorities.error();
  const auto addresses = addresses_of(access_.server, pace_.connect_timeout, halt_);
  if (stopped()) return stopped_failure();
  if (!addresses) return addresses.error();

  Asking asking;
  asking.silence_most = patience.silence;
  asking.deadline = now() + patience.whole;
  auto client = client_for(access_, *authorities ? &**authorities : nullptr, asking.doubt);
  if (!client) return client.error();
  httplib::Request request = request_for(access_, path_and_query, *bearer);
  request.method = content.method;
  request.body = content.body;
  if (!content.type.empty()) request.headers.emplace("Content-Type", content.type);
  take_answer(request, asking, take);
  httplib::Error error = httplib::Error::Connection;
  for (const std::string& address : *addresses) {
    (*client)->set_hostname_addr_map(
        {{access_.tls ? expected_name(access_) : access_.server.host, address}});
    error = send(**client, request, asking, pace_.connect_timeout, halt_);
    if (stopped()) return stopped_failure();
    if (!is_unconnected(error)) break;
  }
  if (asking.status == 200 && (error == httplib::Error::Success || asking.enough)) return {};
  if (asking.status == 0 || asking.status == 200) {
    return no_answer(access_, asking, pace_.connect_timeout, error);
  }
  return failure_of(asking.status, asking.retry_after, asking.refusal, question, access_.origin);
}

Outcome<std::string> ApiClient::whole(const std::string& path_and_query, const Question& question,
                                      const Content& content) {
  std::string body;
  bool too_large = false;
  const auto take = [&](std::string_view piece) {
    too_large = body.size() + piece.size() > limits::api_answer_size_bytes;
    if (!too_large) body += piece;
    return !too_large;
  };
  auto asked =
      ask(path_and_query, question, {pace_.answer_timeout, pace_.answer_whole}, take, content);
  if (!asked) return asked.error();
  if (too_large) {
    return failed(FailureReason::malformed,
                  fmt::format("API server {}: its answer to {} {} has more than {} bytes",
                              access_.server.text(), question.verb, question.resource,
                              limits::api_answer_size_bytes));
  }
  return body;
}

Outcome<std::string> ApiClient::get(const std::string& path_and_query, const Question& question) {
  return whole(path_and_query, question, {});
}

Outcome<std::string> ApiClient::merge(const std::string& path_and_query, const Question& question,
                                      const std::string& body) {
  return whole(path_and_query, question, {"PATCH", "application/merge-patch+json", body});
}

Outcome<void> ApiClient::watch(const std::string& path_and_query, const Question& question,
                               const Taker& take) {
  return ask(path_and_query, question, {pace_.watch_silence, pace_.watch_whole}, take, {});
}

}  // namespace ringside::k8s
