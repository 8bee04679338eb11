#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/body.h"
#include "http/byte_stream.h"
#include "http/field_lines.h"

namespace ringside::http {

// A response as we give it: a value that every room may make and none but a codec writes out. Used
// again and again on a connection, so that its strings keep their room.
struct Response {
  int status = 0;
  std::string reason;
  // Lines that lie elsewhere, such as a stored head's; `fields` follow. Kept by `owner`.
  std::string_view shared_lines;
  bool shared_is_ready = false;  // no hop of ours makes anything else of them
  std::shared_ptr<const void> owner;
  FieldLines fields;
  Body body;
  // There is no content, or a Content-Length among the fields tells how much. Else the codec tells
  // the end in its own way.
  bool length_is_known = true;
  // What the body fails with before its first byte is answered instead: so the head waits for it.
  bool head_waits = false;
  // Nothing more is to be expected on the connection.
  bool is_last = false;
  // After a 101: the other end of the tunnel.
  std::shared_ptr<ByteStream> tunnel;

  // Begins another one.
  void begin(int new_status, std::string_view new_reason);
};

}  // namespace ringside::http
