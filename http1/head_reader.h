#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "http/head.h"

namespace ringside::http {

// One strict walk over the bytes of a head, shared by requests and responses. It views the bytes
// and allocates nothing of its own. Every method that returns bool says false once the head is
// refused; fault() tells why. Internal to the room.
class HeadReader {
 public:
  // What the field lines say about the message and the connection.
  struct Facts {
    std::string_view host;  // of the first Host line
    unsigned host_lines = 0;
    std::optional<std::string_view> expect;
    std::optional<std::uint64_t> content_length;
    unsigned codings = 0;          // members of Transfer-Encoding
    unsigned chunked_codings = 0;  // of them, `chunked`
    bool has_transfer_encoding = false;
    bool last_coding_is_chunked = false;
    unsigned connection_options = 0;
    bool close = false;       // Connection: close
    bool keep_alive = false;  // Connection: keep-alive
  };

  HeadReader(std::string_view bytes, ErrorSource source) noexcept;

  // True while the bytes end with CRLF, on which every scan below relies to stop in time.
  [[nodiscard]] bool has_sentinel() noexcept;

  // The empty line that a client may send before its request line (RFC 9112 §2.2). One at most.
  void skip_empty_line() noexcept;

  // The run of bytes of a character class; may be empty.
  [[nodiscard]] std::string_view take(unsigned classes) noexcept;
  [[nodiscard]] bool take_space(const char* otherwise) noexcept;
  [[nodiscard]] bool take_version(int& minor_version) noexcept;
  [[nodiscard]] bool take_line_end(const char* where) noexcept;
  [[nodiscard]] char peek() const noexcept { return *at_; }

  // All field lines and the empty line that ends the head and the bytes.
  [[nodiscard]] bool take_fields(std::size_t most, Fields& fields);

  // The rules that need all fields at once (RFC 9112 §6.1–§6.3): none, length or chunked. `framing`
  // is none where the fields say nothing.
  [[nodiscard]] bool decide_framing(int minor_version, Framing& framing) noexcept;

  [[nodiscard]] bool refuse(ErrorKind kind, const char* why) noexcept;
  [[nodiscard]] bool refuse(const char* why) noexcept { return refuse(ErrorKind::malformed, why); }

  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  [[nodiscard]] std::size_t offset() const noexcept;
  [[nodiscard]] Error fault() const;

 private:
  [[nodiscard]] bool refuse_byte(const char* where) noexcept;
  [[nodiscard]] bool take_field(Fields& fields);
  [[nodiscard]] bool note(std::string_view field_name, std::string_view value);
  [[nodiscard]] bool note_content_length(std::string_view value) noexcept;
  [[nodiscard]] bool note_transfer_encoding(std::string_view value) noexcept;
  [[nodiscard]] bool note_connection(std::string_view value) noexcept;

  const char* const begin_;
  const char* const end_;
  const char* at_;
  const ErrorSource source_;
  Facts facts_;
  ErrorKind kind_ = ErrorKind::malformed;
  const char* why_ = "";
  const char* where_ = nullptr;  // for what is wrong with a single byte
};

}  // namespace ringside::http
