// The first byte tells who sends and which limits hold, the next three are the cuts; then all that
// arrives on a connection until it is closed. What is read from it depends on the bytes alone, not
// on how they were cut on their way (RFC 9112 §11.2 is about those who find other messages in
// them).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/limits.h"
#include "http1/head_parser.h"
#include "http1/incoming.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/head_rules.h"

namespace ringside::fuzz {
namespace {

using http::Incoming;

// Which stream it is: of a client's requests, or of an origin's answers to GET or HEAD.
struct Side {
  ErrorSource source;
  std::string_view method;
  http::HeadLimits limits;
};

Side side_of(std::string_view choice) {
  const auto wide = http::HeadLimits::defaults();
  if (choice == "o") return {ErrorSource::origin, "GET", wide};
  if (choice == "O") return {ErrorSource::origin, "GET", narrow_limits};
  if (choice == "h") return {ErrorSource::origin, "HEAD", wide};
  return {ErrorSource::client, "", choice == "C" ? narrow_limits : wide};
}

// Reads a connection and writes down what it understood.
class Reader {
 public:
  explicit Reader(const Side& side) : side_(side), incoming_(side.source) {}

  void feed(std::string_view bytes) {
    if (refused_) return;
    incoming_.buffer().reserve(bytes.size());
    bytes.copy(incoming_.buffer().writable(), bytes.size());
    incoming_.buffer().commit(bytes.size());
    while (in_body_ ? take_body() : take_head()) {
    }
  }

  std::string close() {
    if (!refused_) {
      const bool ended = in_body_ && incoming_.end_with_close();
      note_ += fmt::format("[closed, {}]", ended                ? "which ends the body"
                                           : in_body_           ? "in a body"
                                           : !incoming_.empty() ? "in a head"
                                                                : "between messages");
    }
    return std::move(note_);
  }

 private:
  bool refuse(const Error& error) {
    RINGSIDE_CHECK(error.source == side_.source);
    check_message(error);
    note_ += fmt::format("[refused: {}]", name(error.kind));
    refused_ = true;
    return false;
  }

  void note_fields(const http::Fields& fields) {
    for (const auto& field : fields) note_ += fmt::format("[{}: {}]", field.name, field.value);
  }

  // False where no more can be read of what has come.
  bool take_head() {
    RINGSIDE_CHECK(incoming_.body_done());
    return side_.source == ErrorSource::client ? take_request() : take_response();
  }

  bool take_request() {
    http::RequestHead head;
    const auto taken = incoming_.take_request(side_.limits, head);
    if (!taken) return false;
    if (!*taken) return refuse(taken->error());
    note_ += fmt::format("[{} {} HTTP/1.{} at {}, {}, {}]", head.method, head.target,
                         head.minor_version, head.host, head.keep_alive, head.expects_continue);
    note_fields(head.fields);
    in_body_ = head.framing.kind != http::Framing::Kind::none;
    return true;
  }

  bool take_response() {
    http::ResponseHead head;
    const auto taken = incoming_.take_response(side_.limits, side_.method, head);
    if (!taken) return false;
    if (!*taken) return refuse(taken->error());
    note_ += fmt::format("[HTTP/1.{} {} {}, {}]", head.minor_version, head.status, head.reason,
                         head.keep_alive);
    note_fields(head.fields);
    in_body_ = head.framing.kind != http::Framing::Kind::none;
    return true;
  }

  bool take_body() {
    if (!incoming_.body_done()) {
      const std::size_t wanted = incoming_.wanted_body_bytes();
      RINGSIDE_CHECK(wanted > 0 && wanted <= limits::body_piece_size_bytes);
    }
    const auto piece = incoming_.take_body();
    if (!piece) return false;
    if (!*piece) return refuse(piece->error());
    note_ += **piece;
    if (!(*piece)->empty()) return true;
    RINGSIDE_CHECK(incoming_.body_done());
    note_ += "[end]";
    in_body_ = false;
    return true;
  }

  const Side side_;
  Incoming incoming_;
  std::string note_;
  bool in_body_ = false;
  bool refused_ = false;
};

std::string read(std::string_view stream, const Side& side, std::string_view cut_sizes) {
  Reader reader(side);
  Cuts cuts(cut_sizes);
  while (!stream.empty()) reader.feed(cuts.next(stream));
  return reader.close();
}

}  // namespace

void examine(std::string_view input) {
  const Side side = side_of(take(input, 1));
  const std::string_view cut_sizes = take(input, 3);
  const std::string whole = read(input, side, {});
  RINGSIDE_CHECK(read(input, side, byte_by_byte) == whole);
  RINGSIDE_CHECK(read(input, side, cut_sizes) == whole);
}

}  // namespace ringside::fuzz
