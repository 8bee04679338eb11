#pragma once

#include <string>

#include "k8s/access.h"
#include "k8s/failure.h"
#include "k8s/halt.h"

struct ssl_ctx_st;

namespace ringside::k8s {

// What one connection's handshakes found wrong with the server's certificate; empty: nothing.
struct CertificateDoubt {
  std::string expected;  // the name or address that it must be for
  std::string believed;  // whose signature is believed, for the message
  std::string message;
};

// What httplib has no setting for, set in its SSL_CTX: TLS 1.2 or newer, our own certificate, no
// address as the server's name, and what name or address the certificate must be for. OpenSSL looks
// for that by its own rules, where httplib alone would take the certificate's subject for a name
// too; httplib's check of the certificate then fails, and `doubt`, which must outlive the context,
// says why. A Failure says which part of the access makes no sense.
[[nodiscard]] Outcome<void> prepare_tls(ssl_ctx_st* context, const Access& access,
                                        CertificateDoubt& doubt);

// Whom to believe, as the file that httplib reads its authorities from; in memory, for a kubeconfig
// may hold their text. Without it httplib believes what the system does, and beside any other
// store too.
class AuthorityFile {
 public:
  // Reads Access::ca_file.
  [[nodiscard]] static Outcome<AuthorityFile> of(const Access& access);
  [[nodiscard]] std::string path() const;  // while this lives; empty: the system's

 private:
  Descriptor memory_;
};

// The name or address that the server's certificate must be for.
[[nodiscard]] const std::string& expected_name(const Access& access);

// What OpenSSL's queue of this thread says first; empties it.
[[nodiscard]] std::string first_tls_error();

}  // namespace ringside::k8s
