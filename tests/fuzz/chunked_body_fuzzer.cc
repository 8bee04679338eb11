// The first two bytes are the cuts; then a chunked body and what follows it.
#include <fmt/format.h>

#include <string>

#include "http1/chunked.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

struct Outcome {
  std::string body;
  std::size_t consumed = 0;
  bool done = false;
  std::string refusal;  // empty: none
  bool operator==(const Outcome&) const = default;
};

Outcome decode(std::string_view input, std::string_view cut_sizes) {
  http::ChunkDecoder decoder;
  Cuts cuts(cut_sizes);
  Outcome out;
  while (!input.empty() && !decoder.done()) {
    std::string_view piece = cuts.next(input);
    while (!piece.empty() && !decoder.done()) {
      const auto step = decoder.decode(piece, ErrorSource::client);
      if (!step) {
        RINGSIDE_CHECK(step.error().kind == ErrorKind::malformed);
        check_message(step.error());
        out.refusal = step.error().message;
        return out;
      }
      RINGSIDE_CHECK(step->consumed > 0 && step->consumed <= piece.size());
      RINGSIDE_CHECK(step->data.empty() ||
                     (step->data.data() >= piece.data() &&
                      step->data.data() + step->data.size() == piece.data() + step->consumed));
      out.body.append(step->data);
      out.consumed += take(piece, step->consumed).size();
    }
  }
  out.done = decoder.done();
  return out;
}

// Any bytes in chunks of any sizes come out as they went in, up to the byte.
void check_encoded(std::string_view body, std::string_view cut_sizes) {
  std::string coded;
  Cuts sizes(cut_sizes);
  for (std::string_view rest = body; !rest.empty();) {
    const std::string_view chunk = sizes.next(rest);
    coded += fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk);
  }
  coded += "0\r\n\r\n";
  const Outcome expected{std::string(body), coded.size(), true, {}};
  RINGSIDE_CHECK(decode(coded + "GET / HTTP/1.1\r\n", cut_sizes) == expected);
}

}  // namespace

void examine(std::string_view input) {
  const std::string_view cut_sizes = take(input, 2);
  const Outcome whole = decode(input, {});
  const Outcome one_by_one = decode(input, byte_by_byte);
  const Outcome in_cuts = decode(input, cut_sizes);
  RINGSIDE_CHECK(whole.refusal == one_by_one.refusal && whole.refusal == in_cuts.refusal);
  RINGSIDE_CHECK(whole.body == one_by_one.body && whole.body == in_cuts.body);
  RINGSIDE_CHECK(whole.done == one_by_one.done && whole.done == in_cuts.done);
  if (whole.refusal.empty()) {
    RINGSIDE_CHECK(whole == one_by_one && whole == in_cuts);
    // What was read so far does not depend on what comes after it.
    RINGSIDE_CHECK(decode(input.substr(0, whole.consumed), {}) == whole);
  }
  check_encoded(whole.body, cut_sizes);
  check_encoded(input, cut_sizes);
}

}  // namespace ringside::fuzz
