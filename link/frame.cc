#include "link/frame.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/limits.h"
#include "http/characters.h"
#include "http/field_name.h"
#include "link/line.h"

namespace ringside::link {
namespace {

static_assert(std::endian::native == std::endian::little);

// What is of one connection over HTTP/1.1, or frames a message there. Never written, and refused.
constexpr http::FieldNames kOfConnection(std::to_array<std::string_view>(
    {"connection", "transfer-encoding", "keep-alive", "upgrade", "proxy-connection"}));
// What a sidecar makes something else of before a client sees it.
constexpr http::FieldNames kOfHops(
    std::to_array<std::string_view>({"cache-status", "content-length", "proxy-status"}));

template <class Number>
void append_number(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

Error malformed(std::string why) {
  return {ErrorKind::malformed, ErrorSource::peer, Retry::no, "link: " + std::move(why)};
}

// Takes a payload to pieces. Once something is missing everything is empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) noexcept : rest_(bytes) {}
  [[nodiscard]] std::string_view take(std::size_t bytes) noexcept {
    if (bytes > rest_.size()) is_short_ = true;
    const std::string_view piece = is_short_ ? std::string_view{} : rest_.substr(0, bytes);
    rest_.remove_prefix(piece.size());
    return piece;
  }
  template <class Number>
  [[nodiscard]] Number number() noexcept {
    Number value{};
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view rest() noexcept { return take(rest_.size()); }
  [[nodiscard]] bool is_short() const noexcept { return is_short_; }
  [[nodiscard]] bool at_end() const noexcept { return !is_short_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_short_ = false;
};

std::size_t begin_frame(std::string& out, FrameType type, Stream stream) {
  const std::size_t start = out.size();
  append_number(out, std::uint32_t{0});
  append_number(out, static_cast<std::uint8_t>(type));
  append_number(out, std::uint8_t{0});
  append_number(out, stream);
  return start;
}

// `following`: bytes of the payload that come after what was appended.
void end_frame(std::string& out, std::size_t start, std::size_t following = 0) {
  const auto size =
      static_cast<std::uint32_t>(out.size() - start - frame_head_size_bytes + following);
  std::memcpy(out.data() + start, &size, sizeof size);
}

struct FieldSizes {
  std::uint16_t name;
  std::uint16_t value;
};
constexpr std::size_t sizes_most = std::numeric_limits<std::uint16_t>::max();

// The head of the payload of answers and interim responses.
struct ResponseSizes {
  std::uint16_t status = 0;
  std::uint16_t flags = 0;
  std::uint16_t reason_bytes = 0;
  std::uint16_t unused = 0;
  std::uint32_t ready_bytes = 0;
  std::uint32_t rest_bytes = 0;
};
constexpr std::uint16_t length_is_known = 1;

bool is_status(unsigned status) noexcept { return status >= 100 && status <= 599; }

// Lines for the sidecar into the fields.
bool read_rest(std::string_view lines, http::Fields& fields) {
  fields.clear();
  std::size_t count = 0;
  return for_each_line(lines, [&](const Line& line) {
    fields.add(line.name, line.value);
    return !kOfConnection.has(line.name) && ++count <= limits::hop_head_fields;
  });
}

bool is_ready(std::string_view lines) {
  return for_each_line(lines, [](const Line& line) {
    return !kOfConnection.has(line.name) && !kOfHops.has(line.name) &&
           !http::is_internal(line.name);
  });
}

// A Content-Length must be that of the content that came, or of the one that was left out; there is
// one where the length is told, and else none.
bool fits(const http::Fields& fields, std::size_t content_bytes, bool has_content,
          bool length_is_told) {
  const std::size_t lines = fields.count("content-length");
  if (lines > 1 || (has_content && (lines == 1) != length_is_told)) return false;
  const auto digits = fields.first("content-length");
  if (!digits) return true;
  std::uint64_t length = 0;
  const char* const end = digits->data() + digits->size();
  const auto parsed = std::from_chars(digits->data(), end, length);
  if (digits->empty() || parsed.ec != std::errc{} || parsed.ptr != end) return false;
  return !has_content || length == content_bytes;
}

}  // namespace

Result<Taken> take_frame(std::string_view bytes, ErrorSource source) {
  if (bytes.size() < frame_head_size_bytes) return Taken{};
  Reader reader(bytes);
  const auto size = reader.number<std::uint32_t>();
  const auto type = reader.number<std::uint8_t>();
  const auto zero = reader.number<std::uint8_t>();
  Frame frame;
  frame.stream = reader.number<Stream>();
  frame.type = static_cast<FrameType>(type);
  const bool is_known = frame.type >= FrameType::request && frame.type <= FrameType::going_away &&
                        (frame.type != FrameType::cancel || size == 0) &&
                        (frame.type != FrameType::going_away || frame.stream == 0);
  if (!is_known || zero != 0 || size > limits::link_frame_size_bytes - frame_head_size_bytes) {
    Error error =
        malformed(is_known && zero == 0 ? "a frame is too large" : "a frame of an unknown type");
    error.source = source;
    return error;
  }
  Taken taken;
  if (bytes.size() - frame_head_size_bytes < size) return taken;
  frame.payload = reader.take(size);
  taken.frame = frame;
  taken.size_bytes = frame_head_size_bytes + size;
  return taken;
}

bool is_carried(const hop::UpstreamRequest& request) noexcept {
  const std::size_t size = request.method.size() + request.host.size() +
                           request.target->path.size() + request.target->query.size() +
                           request.fields.size();
  const bool is_repeatable = http::is_safe(request.method) || request.method == "PURGE";
  return request.body == nullptr && !request.upgrades && is_repeatable &&
         request.framing.kind == http::Framing::Kind::none &&
         size < limits::link_request_size_bytes;
}

// RequestSizes: method: u16 | fields: u16 | host: u16 | 0: u16 | target: u32; then for each field
// its sizes; then the method, the host, the target, the lines.
void append_request(std::string& out, Stream stream, const hop::UpstreamRequest& request) {
  static_assert(limits::link_request_size_bytes < sizes_most);
  const std::size_t start = begin_frame(out, FrameType::request, stream);
  const http::Target& target = *request.target;
  append_number(out, static_cast<std::uint16_t>(request.method.size()));
  const std::size_t count_at = out.size();
  append_number(out, std::uint16_t{0});
  append_number(out, static_cast<std::uint16_t>(request.host.size()));
  append_number(out, std::uint16_t{0});
  const std::size_t query = target.has_query ? 1 + target.query.size() : 0;
  append_number(out, static_cast<std::uint32_t>(target.path.size() + query));
  std::uint16_t count = 0;
  for (std::string_view rest = request.fields; !rest.empty(); ++count) {
    const Line line = first_line(rest);
    RINGSIDE_CHECK(line.size_bytes != 0);  // FieldLines made it
    append_number(out, FieldSizes{static_cast<std::uint16_t>(line.name.size()),
                                  static_cast<std::uint16_t>(line.value.size())});
    rest.remove_prefix(line.size_bytes);
  }
  std::memcpy(out.data() + count_at, &count, sizeof count);
  out.append(request.method).append(request.host).append(target.path);
  if (target.has_query) out.append("?").append(target.query);
  out.append(request.fields);
  end_frame(out, start);
}

Result<void> read_request(std::string_view payload, http::RequestHead& head) {
  Reader reader(payload);
  const auto method_bytes = reader.number<std::uint16_t>();
  const auto count = reader.number<std::uint16_t>();
  const auto host_bytes = reader.number<std::uint16_t>();
  static_cast<void>(reader.number<std::uint16_t>());
  const auto target_bytes = reader.number<std::uint32_t>();
  if (count > limits::hop_head_fields) return malformed("a request with too many fields");
  std::string_view sizes = reader.take(count * sizeof(FieldSizes));
  head.method = reader.take(method_bytes);
  head.host = reader.take(host_bytes);
  head.target = reader.take(target_bytes);
  const std::string_view lines = reader.rest();
  if (reader.is_short()) return malformed("a request that is cut short");
  head.minor_version = 1;
  head.framing = {};
  head.keep_alive = true;
  head.expects_continue = false;
  head.fields.clear();
  head.fields.add("Host", head.host);
  Reader fields(lines);
  for (; !sizes.empty(); sizes.remove_prefix(sizeof(FieldSizes))) {
    FieldSizes size{};
    std::memcpy(&size, sizes.data(), sizeof size);
    const std::string_view name = fields.take(size.name);
    const bool is_line = is_name(name) && fields.take(name_end.size()) == name_end;
    const std::string_view value = fields.take(size.value);
    if (!is_line || fields.take(line_end.size()) != line_end) {
      return malformed("a request whose fields have other sizes");
    }
    head.fields.add(name, value);
  }
  const std::size_t ends = std::size_t{count} * line_end.size();
  const bool is_text = control_characters(lines) == ends && control_characters(head.host) == 0 &&
                       control_characters(head.target) == 0;
  const bool is_whole = fields.at_end() && http::is_token(head.method) && !head.target.empty() &&
                        head.target.find(' ') == std::string_view::npos && !head.host.empty();
  if (!is_text || !is_whole) return malformed("a request that is none");
  return {};
}

bool append_answer_head(std::string& out, Stream stream, const http::Response& response,
                        std::size_t content_bytes) {
  const std::size_t start = begin_frame(out, FrameType::answer, stream);
  const std::size_t sizes_at = out.size();
  ResponseSizes sizes;
  append_number(out, sizes);
  out.append(response.reason);
  const std::size_t ready_at = out.size();
  thread_local std::string for_hop;  // its room is used again
  for_hop.clear();
  const auto append_lines = [&](std::string_view block) {
    for (std::string_view rest = block; !rest.empty();) {
      const Line line = first_line(rest);
      RINGSIDE_CHECK(line.size_bytes != 0);  // FieldLines made it
      const bool is_for_hop = kOfHops.has(line.name) || http::is_internal(line.name);
      if (!kOfConnection.has(line.name)) {
        (is_for_hop ? for_hop : out).append(rest.substr(0, line.size_bytes));
      }
      rest.remove_prefix(line.size_bytes);
    }
  };
  if (response.shared_is_ready) {
    out.append(response.shared_lines);
  } else {
    append_lines(response.shared_lines);
  }
  append_lines(response.fields.text());
  const std::size_t rest_at = out.size();
  out.append(for_hop);
  sizes.status = static_cast<std::uint16_t>(response.status);
  sizes.flags = response.length_is_known ? length_is_known : 0;
  sizes.reason_bytes = static_cast<std::uint16_t>(response.reason.size());
  sizes.ready_bytes = static_cast<std::uint32_t>(rest_at - ready_at);
  sizes.rest_bytes = static_cast<std::uint32_t>(out.size() - rest_at);
  if (out.size() - start > limits::link_head_size_bytes) {
    out.resize(start);
    return false;
  }
  std::memcpy(out.data() + sizes_at, &sizes, sizeof sizes);
  end_frame(out, start, content_bytes);
  return true;
}

Result<void> read_answer(std::string_view payload, bool is_head, Answer& answer) {
  Reader reader(payload);
  const auto sizes = reader.number<ResponseSizes>();
  http::ResponseHead& head = answer.head;
  head.status = sizes.status;
  head.reason = reader.take(sizes.reason_bytes);
  head.ready_lines = reader.take(sizes.ready_bytes);
  const std::string_view rest = reader.take(sizes.rest_bytes);
  answer.content = reader.rest();
  const bool is_final = is_status(sizes.status) && sizes.status >= 200;
  if (reader.is_short() || !is_final || control_characters(head.reason) != 0) {
    return malformed("an answer that is none");
  }
  const bool tells_length = (sizes.flags & length_is_known) != 0;
  const bool has_content = !is_head && http::may_have_length(head.status) && head.status != 304;
  if (!has_content && !answer.content.empty()) return malformed("an answer with too much content");
  if (!read_rest(rest, head.fields) || !is_ready(head.ready_lines) ||
      !fits(head.fields, answer.content.size(), has_content, tells_length)) {
    return malformed("an answer whose fields can't be sent on");
  }
  head.minor_version = 1;
  head.keep_alive = true;
  head.framing = {};
  if (!has_content) return {};
  // What is whole here may have had no length on its way: then the client is told of none either.
  head.framing.kind = tells_length ? http::Framing::Kind::length : http::Framing::Kind::chunked;
  head.framing.length_bytes = answer.content.size();
  return {};
}

void append_interim(std::string& out, Stream stream, const http::ResponseHead& head) {
  const std::size_t start = begin_frame(out, FrameType::interim, stream);
  const std::size_t sizes_at = out.size();
  ResponseSizes sizes;
  append_number(out, sizes);
  out.append(head.reason);
  const std::size_t rest_at = out.size();
  const http::HopByHop hop_by_hop(head.fields);
  for (const http::Field& field : head.fields) {
    if (http::is_internal(field.name) || hop_by_hop.has(field.name)) continue;
    out.append(field.name).append(name_end).append(field.value).append(line_end);
  }
  sizes.status = static_cast<std::uint16_t>(head.status);
  sizes.reason_bytes = static_cast<std::uint16_t>(head.reason.size());
  sizes.rest_bytes = static_cast<std::uint32_t>(out.size() - rest_at);
  if (out.size() - sizes_at > limits::link_head_size_bytes) {
    out.resize(start);
    return;
  }
  std::memcpy(out.data() + sizes_at, &sizes, sizeof sizes);
  end_frame(out, start);
}

Result<void> read_interim(std::string_view payload, http::ResponseHead& head) {
  Reader reader(payload);
  const auto sizes = reader.number<ResponseSizes>();
  head = {};
  head.status = sizes.status;
  head.reason = reader.take(sizes.reason_bytes);
  const std::string_view rest = reader.take(sizes.rest_bytes);
  const bool is_small = payload.size() <= limits::link_head_size_bytes;
  const bool is_interim =
      is_small && sizes.status >= 100 && sizes.status < 200 && sizes.status != 101;
  if (!reader.at_end() || !is_interim || sizes.ready_bytes != 0 ||
      control_characters(head.reason) != 0 || !read_rest(rest, head.fields)) {
    return malformed("an interim response that is none");
  }
  return {};
}

void append_ticket(std::string& out, Stream stream, std::uint64_t number) {
  const std::size_t start = begin_frame(out, FrameType::ticket, stream);
  append_number(out, number);
  end_frame(out, start);
}

Result<std::uint64_t> read_ticket(std::string_view payload) {
  Reader reader(payload);
  const auto number = reader.number<std::uint64_t>();
  if (!reader.at_end()) return malformed("a ticket that is none");
  return number;
}

void append_word(std::string& out, FrameType type, Stream stream, std::string_view why) {
  const std::size_t start = begin_frame(out, type, stream);
  out.append(why);
  end_frame(out, start);
}

}  // namespace ringside::link
