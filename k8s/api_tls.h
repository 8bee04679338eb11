#pragma once

#include <string>

#include "k8s/access.h"
#include "k8s/failure.h"

struct ssl_ctx_st;

namespace ringside::k8s {

// What one connection's handshakes found wrong with the server's certificate; empty: nothing.
struct CertificateDoubt {
  std::string expected;  // the name or address that it must be for
  std::string believed;  // whose signature is believed, for the message
  std::string message;
};

// Sets a new context of OpenSSL's: TLS 1.2 or newer, HTTP/1.1, whom to believe, what name or
// address the certificate must be for, and our own certificate, all as `access` says. Only what it
// names is believed, and only names of the certificate count, not its subject. `doubt` must outlive
// the context. A Failure says which part of the access makes no sense.
[[nodiscard]] Outcome<void> prepare_tls(ssl_ctx_st* context, const Access& access,
                                        CertificateDoubt& doubt);

// What is sent as SNI: never an address (RFC 6066 §3); then it is empty.
[[nodiscard]] std::string server_name_indication(const Access& access);

// What OpenSSL's queue of this thread says last; empties it.
[[nodiscard]] std::string last_tls_error();

}  // namespace ringside::k8s
