#include "http/characters.h"
#include "http/head.h"
#include "http1/head_parser.h"
#include "http1/head_reader.h"

namespace ringside::http {
namespace {

constexpr int kStatusFirst = 100;
constexpr int kStatusLast = 599;
constexpr int kNoContent = 204;
constexpr int kNotModified = 304;

constexpr bool is_interim(int status) noexcept { return status < 200; }

bool read_status_line(HeadReader& reader, ResponseHead& head) {
  if (!reader.take_version(head.minor_version)) return false;
  if (!reader.take_space("no space after the version")) return false;
  const std::string_view digits = reader.take(kDigitClass);
  if (digits.size() != 3) return reader.refuse("the status is not three digits");
  head.status = (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
  if (head.status < kStatusFirst || head.status > kStatusLast) {
    return reader.refuse("a status outside 100 to 599");
  }
  head.reason = {};
  // The space is due even where the reason is empty (RFC 9112 §4), but many origins leave it out.
  if (reader.peek() == '\r') return reader.take_line_end("the end of the status line");
  if (!reader.take_space("no space after the status")) return false;
  head.reason = reader.take(kValueClass);
  return reader.take_line_end("the reason of a status line");
}

// RFC 9112 §6.3. A message that must not say how long its body is, and does, may be followed by
// that body: an interim answer like that is refused, and after a 204 the connection is not reused.
bool decide_response_framing(HeadReader& reader, std::string_view method, ResponseHead& head) {
  if (!reader.decide_framing(head.minor_version, head.framing)) return false;
  const bool never_has_body = is_interim(head.status) || head.status == kNoContent;
  if (never_has_body) {
    const bool says_body =
        head.framing.kind == Framing::Kind::chunked || head.framing.length_bytes != 0;
    if (says_body && is_interim(head.status)) return reader.refuse("an interim answer with a body");
    if (says_body) head.keep_alive = false;
  }
  if (never_has_body || head.status == kNotModified || method == "HEAD") {
    head.framing = Framing{};
  } else if (head.framing.kind == Framing::Kind::none) {
    head.framing.kind = Framing::Kind::until_close;
    head.keep_alive = false;
  }
  return true;
}

}  // namespace

Result<void> parse_response_head(std::string_view bytes, const HeadLimits& limits,
                                 std::string_view request_method, ErrorSource source,
                                 ResponseHead& head) {
  HeadReader reader(bytes, source);
  head.fields.clear();
  if (bytes.size() > limits.head_size_bytes) {
    return Error{ErrorKind::head_too_large, source, Retry::no, "head too large"};
  }
  if (!reader.has_sentinel() || !read_status_line(reader, head) ||
      !reader.take_fields(limits.fields, head.fields)) {
    return reader.fault();
  }
  const HeadReader::Facts& facts = reader.facts();
  head.keep_alive = !facts.close && (head.minor_version == 1 || facts.keep_alive);
  if (!decide_response_framing(reader, request_method, head)) return reader.fault();
  return {};
}

}  // namespace ringside::http
