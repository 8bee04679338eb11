#include "net/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>
#include <system_error>

#include "base/check.h"

namespace ringside::net {
namespace {

// OpenSSL keeps a queue of errors for each thread; what is left there would be read as the next
// call's.
std::string last_error() {
  const unsigned long first = ERR_peek_error();
  if (ERR_SYSTEM_ERROR(first)) {  // what follows says only that it was the system's
    ERR_clear_error();
    return std::generic_category().message(ERR_GET_REASON(first));
  }
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "the connection ended" : reason;
}

bool is_address(const std::string& host) noexcept {
  in6_addr ignored{};
  return inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }
void TlsSession::Free::operator()(ssl_st* session) const noexcept { SSL_free(session); }

Result<std::shared_ptr<const TlsContext>> TlsContext::make(const std::string& ca_file) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext(SSL_CTX_new(TLS_client_method())));
  SSL_CTX* const context = made->native();
  RINGSIDE_CHECK(context != nullptr);
  RINGSIDE_CHECK(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // A write that was not taken whole is continued from wherever its bytes lie by then.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // HTTP/1.1 is all that we speak (RFC 7301 §3.1).
  static constexpr unsigned char protocols[] = "\x08http/1.1";
  RINGSIDE_CHECK(SSL_CTX_set_alpn_protos(context, protocols, sizeof(protocols) - 1) == 0);
  const bool loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context) == 1
                                      : SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1;
  if (!loaded) {
    return invalid_input(fmt::format(
        "cannot read certificates from {}: {}; give a file with certificates in PEM format",
        ca_file.empty() ? "the system's store" : ca_file, last_error()));
  }
  return std::shared_ptr<const TlsContext>(std::move(made));
}

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context, int socket,
                       const std::string& host)
    : context_(std::move(context)), session_(SSL_new(context_->native())) {
  RINGSIDE_CHECK(session_ != nullptr);
  RINGSIDE_CHECK(SSL_set_fd(session_.get(), socket) == 1);
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session_.get()), host.c_str());
  } else {
    SSL_set_tlsext_host_name(session_.get(), host.c_str());
    SSL_set_hostflags(session_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    RINGSIDE_CHECK(SSL_set1_host(session_.get(), host.c_str()) == 1);
  }
  SSL_set_connect_state(session_.get());
}

TlsSession::Step TlsSession::judge(int returned) noexcept {
  if (returned > 0) return {static_cast<std::size_t>(returned), Wait::nothing};
  switch (SSL_get_error(session_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return {0, Wait::read};
    case SSL_ERROR_WANT_WRITE:
      return {0, Wait::write};
    case SSL_ERROR_ZERO_RETURN:
      return {0, Wait::nothing};
    default:
      break;
  }
  const long verified = SSL_get_verify_result(session_.get());
  failure_ =
      verified == X509_V_OK ? last_error() : std::string(X509_verify_cert_error_string(verified));
  ERR_clear_error();
  return {0, Wait::failed};
}

TlsSession::Step TlsSession::handshake() noexcept {
  ERR_clear_error();
  return judge(SSL_do_handshake(session_.get()));
}

TlsSession::Step TlsSession::read(char* to, std::size_t bytes) noexcept {
  ERR_clear_error();
  return judge(
      SSL_read(session_.get(), to, static_cast<int>(std::min<std::size_t>(bytes, INT_MAX))));
}

TlsSession::Step TlsSession::write(const char* from, std::size_t bytes) noexcept {
  ERR_clear_error();
  return judge(
      SSL_write(session_.get(), from, static_cast<int>(std::min<std::size_t>(bytes, INT_MAX))));
}

void TlsSession::shut_down() noexcept {
  if (failure_.empty() && SSL_is_init_finished(session_.get()) == 1) {
    SSL_shutdown(session_.get());
  }
  ERR_clear_error();
}

bool TlsSession::certificate_refused() const noexcept {
  return SSL_get_verify_result(session_.get()) != X509_V_OK;
}

}  // namespace ringside::net
