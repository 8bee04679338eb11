#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/raw_socket.h"

struct evp_pkey_st;
struct ssl_ctx_st;
struct ssl_st;
struct x509_st;

namespace ringside::support {

// A certificate with its key, made when it is needed: nothing that could expire lies in a file.
class Certificate {
 public:
  struct Terms {
    std::string names;           // as X509v3 has them: `DNS:a.test,IP:127.0.0.1`
    long valid_from_s = -3'600;  // from now
    long valid_until_s = 3'600;
    bool authority = false;  // it may sign others
  };
  // Signed by `issuer`; null: by itself.
  Certificate(const Terms& terms, const Certificate* issuer);
  ~Certificate();
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  [[nodiscard]] std::string pem() const;
  [[nodiscard]] x509_st* certificate() const noexcept { return certificate_; }
  [[nodiscard]] evp_pkey_st* key() const noexcept { return key_; }

 private:
  evp_pkey_st* key_;
  x509_st* certificate_;
};

// One accepted connection of a TlsServer, after its handshake, as its script sees it. Where the
// other side ends before what a script waits for has come, the script ends too, quietly.
class TlsStage {
 public:
  // The name that the client sent (SNI); empty: none.
  [[nodiscard]] std::string name() const;
  // Reads one request's head.
  std::string read_head();
  std::string read(std::size_t bytes);
  // Reads until the other side ends.
  std::string read_to_end();
  void send(std::string_view bytes);
  // Ends in order, with close_notify; without, the other side can't tell it from an attack.
  void close();
  void break_off();

 private:
  friend class TlsServer;
  struct Over {};
  explicit TlsStage(ssl_st* session) noexcept : session_(session) {}
  void receive_more();
  ssl_st* session_;
  std::string received_;
};

// A ScriptedPeer under TLS.
class TlsServer {
 public:
  using Script = std::function<void(TlsStage&)>;
  struct Terms {
    int newest_version = 0;     // as OpenSSL numbers them; 0: what it has
    bool reads_little = false;  // a small receive buffer: the other side has to write in parts
  };
  // `certificate` must outlive it.
  TlsServer(const Certificate& certificate, Script script);
  TlsServer(const Certificate& certificate, Script script, const Terms& terms);
  ~TlsServer();  // ends all scripts
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  [[nodiscard]] const Endpoint& address() const noexcept { return listener_.address(); }
  [[nodiscard]] std::size_t connections() const noexcept { return connections_.load(); }
  [[nodiscard]] std::size_t handshakes() const noexcept { return handshakes_.load(); }

 private:
  void accept_all();
  void play(int descriptor);

  Script script_;
  const Terms terms_;
  ssl_ctx_st* context_;
  RawListener listener_;
  Gate stop_;
  std::atomic<std::size_t> connections_{0};
  std::atomic<std::size_t> handshakes_{0};
  std::mutex mutex_;  // of the descriptors, which their threads close
  std::list<Descriptor> open_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

// Answers every request on the connection alike.
[[nodiscard]] TlsServer::Script always_under_tls(std::string answer);

}  // namespace ringside::support
