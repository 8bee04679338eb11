#pragma once

#include <httplib.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "k8s/api_connect.h"

namespace ringside::k8s {

// One connection's bytes, as httplib reads and writes them. httplib's own streams don't tell a
// silent server from one that hung up, and wait for the first byte of an answer as long as for the
// next event of a watch. Over a non-blocking socket that it does not own, under TLS where `session`
// is not null. Used by one thread.
class ApiStream final : public httplib::Stream {
 public:
  enum class End { none, closed, broken, silent };  // why nothing more came

  ApiStream(int socket, SSL* session, Milliseconds patience, IoPoint deadline);

  // How long each read may wait from now on; the deadline of all stays.
  void set_patience(Milliseconds patience) noexcept { patience_ = patience; }
  [[nodiscard]] End end() const noexcept { return end_; }
  // Of a broken one.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  [[nodiscard]] bool is_readable() const override { return true; }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t bytes) override;
  ssize_t write(const char* from, std::size_t bytes) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  ssize_t fill();
  // Of what the last call returned and errno: waits and says to repeat it, or says how it ended.
  [[nodiscard]] bool may_repeat(ssize_t returned, short events);
  [[nodiscard]] bool wait(short events);
  [[nodiscard]] bool broke(std::string reason);

  const int socket_;
  SSL* const session_;
  Milliseconds patience_;
  const IoPoint deadline_;
  End end_ = End::none;
  std::string reason_;
  std::vector<char> buffer_;
  std::size_t from_ = 0;  // in the buffer: what was not read yet
  std::size_t to_ = 0;
};

}  // namespace ringside::k8s
