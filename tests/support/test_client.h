#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "tests/support/raw_socket.h"

namespace ringside::support {

// A response as a client reads it: by its own small reader, which shares nothing with ours.
struct Reply {
  int status = 0;                       // 0: not even a head came
  std::string head;                     // with its empty line
  std::string body;                     // decoded
  bool whole = false;                   // it ended as its framing says
  std::optional<RawSocket::End> ended;  // where reading it ended with the connection
  // The value of the first field of that name; empty where there is none.
  [[nodiscard]] std::string field(std::string_view name) const;
};

// One connection of a client that does as it is told. Blocking, with a timeout.
class TestClient {
 public:
  explicit TestClient(const Endpoint& to, int receive_buffer_bytes = 0)
      : socket_(RawSocket::connect(to, receive_buffer_bytes)) {}

  bool send(std::string_view bytes) { return socket_.send(bytes); }
  // Reads the next response. `method` is its request's.
  [[nodiscard]] Reply read(std::string_view method = "GET");
  // Sends and reads.
  [[nodiscard]] Reply ask(std::string_view request);
  // `GET <target>` of host `a.test` with those field lines, each with its CRLF.
  [[nodiscard]] Reply get(std::string_view target, std::string_view field_lines = {});

  // Reads raw bytes until `wanted` has come in them; returns all that came.
  std::string read_until(std::string_view wanted);
  // Reads until the connection ends; what came is appended to `rest`.
  RawSocket::End read_to_end(std::string* rest = nullptr);

  [[nodiscard]] RawSocket& socket() noexcept { return socket_; }

 private:
  bool receive_more(Reply& reply);
  bool take_until(Reply& reply, std::string_view wanted, std::string& into);
  bool take_bytes(Reply& reply, std::size_t bytes);
  bool take_chunks(Reply& reply);

  RawSocket socket_;
  std::string received_;
};

[[nodiscard]] std::string get_request(std::string_view target, std::string_view field_lines = {});

}  // namespace ringside::support
