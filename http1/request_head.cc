#include "http/characters.h"
#include "http/head.h"
#include "http/target.h"
#include "http1/head_parser.h"
#include "http1/head_reader.h"

namespace ringside::http {
namespace {

// The form of the target that goes with the method (RFC 9112 §3.2), and the authority it carries.
bool check_target(HeadReader& reader, RequestHead& head) {
  if (head.method == "CONNECT") {
    return reader.refuse(ErrorKind::unsupported, "CONNECT: this is no tunnel");
  }
  if (head.target.front() == '/') return true;
  if (head.target == "*") {
    // PURGE is ours rather than HTTP's: with * it means everything of every host.
    return head.method == "OPTIONS" || head.method == "PURGE" ||
           reader.refuse("the target * with a method but OPTIONS");
  }
  const auto absolute = split_absolute(head.target);
  if (!absolute) return reader.refuse("a target that starts with neither / nor http://");
  if (!split_host(absolute->authority)) return reader.refuse("invalid host in the target");
  head.host = absolute->authority;
  return true;
}

bool read_request_line(HeadReader& reader, const HeadLimits& limits, RequestHead& head) {
  reader.skip_empty_line();
  const std::size_t start = reader.offset();
  head.method = reader.take(kTokenClass);
  if (head.method.empty()) return reader.refuse("no method at the start of the request line");
  if (!reader.take_space("the method is not a token")) return false;
  head.target = reader.take(kVisibleClass);
  if (head.target.empty()) return reader.refuse("no target after the method and one space");
  if (!reader.take_space("the target is not followed by a space and the version")) return false;
  if (!reader.take_version(head.minor_version)) return false;
  if (reader.offset() - start > limits.line_size_bytes) {
    return reader.refuse(ErrorKind::target_too_long, "request line too long");
  }
  return reader.take_line_end("the end of the request line");
}

// RFC 9112 §3.2: exactly one valid Host, but HTTP/1.0 may have none. It is held to this where an
// absolute-form target overrides it (§3.2.2), too.
bool check_host(HeadReader& reader, RequestHead& head) {
  const HeadReader::Facts& facts = reader.facts();
  if (facts.host_lines == 0) {
    if (head.minor_version != 0) return reader.refuse("no Host");
    if (head.host.empty()) head.host = default_host;
    return true;
  }
  if (facts.host_lines > 1) return reader.refuse("several Host lines");
  if (!split_host(facts.host)) return reader.refuse("invalid Host");
  if (head.host.empty()) head.host = facts.host;
  return true;
}

bool read_request(HeadReader& reader, const HeadLimits& limits, RequestHead& head) {
  if (!reader.has_sentinel() || !read_request_line(reader, limits, head) ||
      !reader.take_fields(limits.fields, head.fields) ||
      !reader.decide_framing(head.minor_version, head.framing)) {
    return false;
  }
  return check_target(reader, head) && check_host(reader, head);
}

}  // namespace

Result<void> parse_request_head(std::string_view bytes, const HeadLimits& limits,
                                RequestHead& head) {
  HeadReader reader(bytes, ErrorSource::client);
  head.host = {};
  head.fields.clear();
  if (bytes.size() > limits.head_size_bytes) {
    return Error{ErrorKind::head_too_large, ErrorSource::client, Retry::no, "head too large"};
  }
  if (!read_request(reader, limits, head)) return reader.fault();
  const HeadReader::Facts& facts = reader.facts();
  const bool persists_by_default = head.minor_version == 1;
  head.keep_alive = !facts.close && (persists_by_default || facts.keep_alive);
  head.expects_continue = head.minor_version == 1 && facts.expect.has_value() &&
                          same_token(*facts.expect, "100-continue");
  return {};
}

}  // namespace ringside::http
