#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hop/upstream.h"
#include "http/fields.h"
#include "http/head.h"
#include "http/response.h"

// What travels on a link, as bytes: values with their lengths, never text to be parsed a second
// time. Pure. Numbers are little-endian.
//
//   frame    payload size: u32 | type: u8 | 0: u8 | stream: u16 | payload
//
//   from who asks                            from who answers
//   request      a request without content   answer      the whole of the answer
//   cancel       nobody waits for it         ticket      HTTP/1.1 fetches it, under that number
//   going_away   no more requests come       interim     a 1xx; the answer follows
//                                            failed      there is no answer
//                                            going_away  no more requests are to be sent
//
// A request is answered by exactly one answer, ticket or failed, also after a cancel; then its
// stream may be used again.
namespace ringside::link {

// The only version that there is: of what is told with answers over HTTP/1.1, and of the protocol
// that a connection switches to (link/switch.h).
inline constexpr std::string_view version = "1";

enum class FrameType : std::uint8_t {
  request = 1,
  answer,
  interim,
  ticket,
  failed,
  cancel,
  going_away,
};

using Stream = std::uint16_t;

struct Frame {
  FrameType type{};
  Stream stream = 0;
  std::string_view payload;
};
inline constexpr std::size_t frame_head_size_bytes = 8;

// What lies at the start of some bytes.
struct Taken {
  std::optional<Frame> frame;  // nullopt: more bytes are needed
  std::size_t size_bytes = 0;  // of the frame with its head
};
// An Error, malformed: a frame of an unknown type, or larger than limits::link_frame_size_bytes.
[[nodiscard]] Result<Taken> take_frame(std::string_view bytes, ErrorSource source);

// Whether a link carries it: a safe method or a purge, which may be asked for again (its ticket may
// be lost), no content, no other protocol, and within the limits.
[[nodiscard]] bool is_carried(const hop::UpstreamRequest& request) noexcept;
// Requires is_carried().
void append_request(std::string& out, Stream stream, const hop::UpstreamRequest& request);
// Views into the payload.
[[nodiscard]] Result<void> read_request(std::string_view payload, http::RequestHead& head);

// The head of an answer as a frame has it, but for the content, which follows it: `content_bytes`
// of it. False: it is larger than limits::link_head_size_bytes, and nothing was appended.
[[nodiscard]] bool append_answer_head(std::string& out, Stream stream,
                                      const http::Response& response, std::size_t content_bytes);
struct Answer {
  http::ResponseHead head;
  std::string_view content;
};
// `is_head`: it answers a HEAD. Views into the payload. The fields' memory is used again.
[[nodiscard]] Result<void> read_answer(std::string_view payload, bool is_head, Answer& answer);

// One that is larger than limits::link_head_size_bytes is left out: it is not needed.
void append_interim(std::string& out, Stream stream, const http::ResponseHead& head);
[[nodiscard]] Result<void> read_interim(std::string_view payload, http::ResponseHead& head);

void append_ticket(std::string& out, Stream stream, std::uint64_t number);
[[nodiscard]] Result<std::uint64_t> read_ticket(std::string_view payload);

// failed and going_away: `why` is for people. cancel: empty.
void append_word(std::string& out, FrameType type, Stream stream, std::string_view why);

}  // namespace ringside::link
