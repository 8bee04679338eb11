#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "hop/handler.h"
#include "http/response.h"
#include "http1/connection.h"

namespace ringside::http {

// The one that sends responses to a client. Its vectors are used again and again.
class ResponseWriter {
 public:
  // The client must take some of what there is every `io_timeout`. The handler is told of waits for
  // the client.
  ResponseWriter(Connection& client, hop::Handler& handler,
                 Milliseconds io_timeout = limits::client_io_timeout) noexcept
      : client_(client), handler_(handler), io_timeout_(io_timeout) {}

  // What of the request decides how its response is framed.
  struct Terms {
    int minor_version = 1;
    bool is_head = false;  // the method is HEAD: no content, whatever the response has
    bool keep_alive = true;
    // To a member, who sees by the framing where something is missing, and is to have what came
    // first: a reset would take it away.
    bool cut_without_reset = false;
  };
  // How it went, and whether the connection goes on. With a failure and the status 0 nothing was
  // sent yet, and another response may be. After any other failure the connection ends with a
  // reset, so that nobody takes what came for the whole.
  struct Written {
    hop::Sent sent;
    bool keep_alive = false;
  };
  // Writes the head, and the content as it comes: what the client does not take is not pulled. Of a
  // stored body no byte is copied. After a 101, carries the tunnel.
  [[nodiscard]] Task<Written> write(Response& response, Terms terms);

 private:
  void add(const Pulled& pulled, bool chunked, std::uint64_t& body_bytes);
  [[nodiscard]] std::size_t size_bytes() const noexcept;  // of buffers_
  Task<Result<void>> write_rest(const Response& response, std::size_t taken);

  Connection& client_;
  hop::Handler& handler_;
  const Milliseconds io_timeout_;
  std::vector<std::string_view> buffers_;
  std::array<char, 20> line_space_{};
};

// The whole of a response whose content is made already, for who can't wait. The connection ends
// with it.
[[nodiscard]] std::string whole_text(Response& response);

}  // namespace ringside::http
