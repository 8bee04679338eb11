#pragma once

#include <optional>
#include <string>
#include <string_view>

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

// A text in memory that libraries read as a file.
class MemoryFile {
 public:
  [[nodiscard]] static Outcome<MemoryFile> of(std::string_view bytes);
  [[nodiscard]] std::string path() const;  // while this lives

 private:
  Descriptor memory_;
};

// Whom to believe, for httplib to read: the bytes of Access::ca_file, or a kubeconfig's text.
// Absent: whom the system believes. A store would not do, for httplib adds the system's to it.
[[nodiscard]] Outcome<std::optional<MemoryFile>> authorities_of(const Access& access);

// The name or address that the server's certificate must be for.
[[nodiscard]] const std::string& expected_name(const Access& access);

// What OpenSSL's queue of this thread says first; empties it.
[[nodiscard]] std::string first_tls_error();

}  // namespace ringside::k8s
