// What a member says on a link, in either role: frames, and in each what its type says.
#include <optional>
#include <string>

#include "base/limits.h"
#include "http/field_lines.h"
#include "http/field_name.h"
#include "http/response.h"
#include "link/frame.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

bool is_line_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

void check_error(const Error& error) {
  check_message(error);
  RINGSIDE_CHECK(error.kind == ErrorKind::malformed);
}

void check_fields(const http::Fields& fields) {
  for (const http::Field& field : fields) {
    RINGSIDE_CHECK(!field.name.empty() && is_line_text(field.name));
    RINGSIDE_CHECK(field.name.find_first_of(": \t") == std::string_view::npos);
    RINGSIDE_CHECK(is_line_text(field.value));
  }
}

bool is_framing(std::string_view name) {
  for (const std::string_view other : {"Transfer-Encoding", "Content-Length", "Connection"}) {
    if (http::same_token(name, other)) return true;
  }
  return false;
}

// The fields as FieldLines has them, from the given one on.
http::FieldLines lines_from(const http::Fields& fields, std::size_t first) {
  http::FieldLines lines;
  std::size_t index = 0;
  for (const http::Field& field : fields) {
    if (index++ >= first) lines.add(field.name, field.value);
  }
  return lines;
}

void check_same(const http::RequestHead& one, const http::RequestHead& other) {
  RINGSIDE_CHECK(one.method == other.method && one.host == other.host);
  RINGSIDE_CHECK(one.target == other.target);
  RINGSIDE_CHECK(lines_from(one.fields, 0).text() == lines_from(other.fields, 0).text());
}

// What was read as a request is read the same after it has been written.
void as_request(std::string_view payload) {
  http::RequestHead head;
  if (const auto read = link::read_request(payload, head); !read) return check_error(read.error());
  RINGSIDE_CHECK(is_line_text(head.host) && is_line_text(head.target));
  RINGSIDE_CHECK(!head.host.empty() && !head.target.empty());
  RINGSIDE_CHECK(head.framing.kind == http::Framing::Kind::none);
  check_fields(head.fields);
  http::Target target;
  const std::size_t query = head.target.find('?');
  target.path = head.target.substr(0, query);
  target.has_query = query != std::string_view::npos;
  if (target.has_query) target.query = head.target.substr(query + 1);
  const http::FieldLines lines = lines_from(head.fields, 1);  // Host comes first
  hop::UpstreamRequest request;
  request.method = head.method;
  request.target = &target;
  request.host = head.host;
  request.fields = lines.text();
  if (!link::is_carried(request)) return;
  std::string bytes;
  link::append_request(bytes, 1, request);
  const auto taken = link::take_frame(bytes, ErrorSource::client);
  RINGSIDE_CHECK(taken && taken->frame && taken->size_bytes == bytes.size());
  http::RequestHead again;
  RINGSIDE_CHECK(link::read_request(taken->frame->payload, again));
  check_same(head, again);
}

// Ready lines go to a client as they are.
void check_ready(std::string_view lines) {
  RINGSIDE_CHECK(lines.empty() || lines.ends_with("\r\n"));
  RINGSIDE_CHECK(!lines.starts_with("\r\n"));
  RINGSIDE_CHECK(lines.find("\r\n\r\n") == std::string_view::npos);
  std::size_t size_bytes = 0;
  const http::Fields fields = http::fields_of(lines);
  check_fields(fields);
  for (const http::Field& field : fields) {
    RINGSIDE_CHECK(!is_framing(field.name) && !http::is_internal(field.name));
    size_bytes += field.name.size() + field.value.size() + 4;
  }
  RINGSIDE_CHECK(size_bytes == lines.size());
}

// What is written of an answer is an answer.
void write_again(const link::Answer& answer, bool is_head) {
  http::Response response;
  response.begin(answer.head.status, answer.head.reason);
  response.shared_lines = answer.head.ready_lines;
  response.fields = lines_from(answer.head.fields, 0);
  response.length_is_known = answer.head.framing.kind != http::Framing::Kind::chunked;
  std::string bytes;
  if (!link::append_answer_head(bytes, 1, response, answer.content.size())) {
    RINGSIDE_CHECK(bytes.empty());
    return;
  }
  bytes += answer.content;
  const auto taken = link::take_frame(bytes, ErrorSource::peer);
  RINGSIDE_CHECK(taken && taken->frame && taken->size_bytes == bytes.size());
  link::Answer again;
  RINGSIDE_CHECK(link::read_answer(taken->frame->payload, is_head, again));
  RINGSIDE_CHECK(again.content == answer.content && again.head.status == answer.head.status);
  RINGSIDE_CHECK(again.head.framing.kind == answer.head.framing.kind);
  const std::size_t lines = http::fields_of(answer.head).size();
  RINGSIDE_CHECK(http::fields_of(again.head).size() == lines);
}

void as_answer(std::string_view payload, bool is_head) {
  link::Answer answer;
  const auto read = link::read_answer(payload, is_head, answer);
  if (!read) return check_error(read.error());
  const http::ResponseHead& head = answer.head;
  RINGSIDE_CHECK(head.status >= 200 && head.status <= 599 && is_line_text(head.reason));
  RINGSIDE_CHECK(payload.ends_with(answer.content));
  const bool has_content = !is_head && head.status != 204 && head.status != 304;
  RINGSIDE_CHECK(has_content || answer.content.empty());
  RINGSIDE_CHECK(has_content == (head.framing.kind != http::Framing::Kind::none));
  check_ready(head.ready_lines);
  check_fields(head.fields);
  RINGSIDE_CHECK(head.fields.size() <= limits::hop_head_fields);
  RINGSIDE_CHECK(head.fields.count("content-length") <= 1);
  RINGSIDE_CHECK(!head.fields.has("transfer-encoding") && !head.fields.has("connection"));
  write_again(answer, is_head);
}

void as_interim(std::string_view payload) {
  http::ResponseHead head;
  if (const auto read = link::read_interim(payload, head); !read) return check_error(read.error());
  RINGSIDE_CHECK(head.status >= 100 && head.status < 200 && head.status != 101);
  RINGSIDE_CHECK(is_line_text(head.reason) && head.ready_lines.empty());
  check_fields(head.fields);
  RINGSIDE_CHECK(!head.fields.has("transfer-encoding") && !head.fields.has("connection"));
  std::string bytes;
  link::append_interim(bytes, 1, head);
  RINGSIDE_CHECK(link::read_interim(bytes.substr(link::frame_head_size_bytes), head));
}

void as_ticket(std::string_view payload) {
  const auto number = link::read_ticket(payload);
  if (!number) return check_error(number.error());
  std::string bytes;
  link::append_ticket(bytes, 1, *number);
  RINGSIDE_CHECK(bytes.substr(link::frame_head_size_bytes) == payload);
}

void read(const link::Frame& frame) {
  switch (frame.type) {
    case link::FrameType::request:
      return as_request(frame.payload);
    case link::FrameType::answer:
      as_answer(frame.payload, false);
      return as_answer(frame.payload, true);
    case link::FrameType::interim:
      return as_interim(frame.payload);
    case link::FrameType::ticket:
      return as_ticket(frame.payload);
    case link::FrameType::failed:
    case link::FrameType::cancel:
    case link::FrameType::going_away:
      return;
  }
  RINGSIDE_CHECK(false);  // a type that is none
}

// A frame comes out of its own bytes, of no fewer, and whatever follows.
void check_cuts(std::string_view bytes, const link::Taken& whole) {
  const link::Frame& frame = *whole.frame;
  for (std::size_t size = 0; size <= whole.size_bytes; ++size) {
    const auto taken = link::take_frame(bytes.substr(0, size), ErrorSource::peer);
    RINGSIDE_CHECK(taken && taken->frame.has_value() == (size == whole.size_bytes));
    if (!taken->frame) continue;
    RINGSIDE_CHECK(taken->size_bytes == whole.size_bytes);
    RINGSIDE_CHECK(taken->frame->type == frame.type && taken->frame->stream == frame.stream);
    RINGSIDE_CHECK(taken->frame->payload == frame.payload);
  }
}

}  // namespace

void examine(std::string_view input) {
  for (std::string_view rest = input;;) {
    const auto taken = link::take_frame(rest, ErrorSource::peer);
    if (!taken) return check_error(taken.error());
    if (!taken->frame) return;
    RINGSIDE_CHECK(taken->size_bytes <= limits::link_frame_size_bytes);
    RINGSIDE_CHECK(taken->size_bytes == taken->frame->payload.size() + link::frame_head_size_bytes);
    check_cuts(rest, *taken);
    read(*taken->frame);
    rest.remove_prefix(taken->size_bytes);
  }
}

}  // namespace ringside::fuzz
