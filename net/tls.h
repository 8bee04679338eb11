#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

struct ssl_ctx_st;
struct ssl_st;

namespace ringside::net {

// How upstreams' certificates are judged: OpenSSL's settings, made once and shared. Thread-safe.
class TlsContext {
 public:
  // Believes what `ca_file` (PEM) holds, or what the system believes where it is empty. TLS 1.2 or
  // newer. An Error names the file and the remedy.
  [[nodiscard]] static Result<std::shared_ptr<const TlsContext>> make(const std::string& ca_file);

  [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };
  explicit TlsContext(ssl_ctx_st* context) noexcept : context_(context) {}
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

// The client's side of TLS over one non-blocking socket, which it does not own. OpenSSL reads and
// writes the socket itself; whoever is told to wait does so and calls again. Lives on the
// connection's thread.
class TlsSession {
 public:
  // `host`: sent as SNI where it is a name, and what the certificate must be for (RFC 9110 §4.3.4).
  TlsSession(std::shared_ptr<const TlsContext> context, int socket, const std::string& host);

  // What is to be waited for before the same call is made again.
  enum class Wait { nothing, read, write, failed };
  struct Step {
    std::size_t bytes = 0;  // 0 with Wait::nothing is the orderly end
    Wait wait = Wait::nothing;
  };

  Step handshake() noexcept;
  Step read(char* to, std::size_t bytes) noexcept;
  Step write(const char* from, std::size_t bytes) noexcept;
  // Sends close_notify, as far as the socket takes it at once.
  void shut_down() noexcept;

  // Why the last step failed; one line.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  // Whether it was the certificate that was not believed.
  [[nodiscard]] bool certificate_refused() const noexcept;

 private:
  struct Free {
    void operator()(ssl_st* session) const noexcept;
  };
  Step judge(int returned) noexcept;

  std::shared_ptr<const TlsContext> context_;
  std::unique_ptr<ssl_st, Free> session_;
  std::string failure_;
};

}  // namespace ringside::net
