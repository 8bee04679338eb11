#include "http1/introduction.h"

#include <array>
#include <string>

#include "hop/peer_handshake.h"
#include "hop/upstream.h"
#include "http1/head_text.h"

namespace ringside::http {
namespace {

// Whoever knows nothing of it answers by itself and leaves it at that (RFC 9110 §7.6.2).
void write_word(std::string& out, std::string_view peer, const std::string& lines) {
  static const Target asterisk{"*", {}, false};
  const std::string fields = "Max-Forwards: 0\r\n" + lines;
  hop::UpstreamRequest request;
  request.method = "OPTIONS";
  request.target = &asterisk;
  request.host = peer;
  request.fields = fields;
  out.clear();
  append_request_head(out, request);
}

Task<Result<void>> say(Connection& connection, std::string_view peer, const std::string& lines) {
  write_word(connection.head_space(), peer, lines);
  const std::array<std::string_view, 1> text{connection.head_space()};
  co_return co_await connection.write(text);
}

// To who has not proved anything: no answer is waited for.
void say_at_once(Connection& connection, std::string_view peer, const std::string& lines) {
  write_word(connection.head_space(), peer, lines);
  const std::array<std::string_view, 1> text{connection.head_space()};
  static_cast<void>(connection.write_now(text));
  connection.shutdown_send();
}

Task<Result<void>> hear(Connection& connection) {
  const auto read = co_await connection.read_response(HeadLimits::defaults(), "OPTIONS",
                                                      connection.response_head());
  if (!read) co_return read.error();
  co_return Result<void>();
}

// Nothing was asked yet: whatever fails here, another one may be.
Error before_all(Error error) {
  error.retry = Retry::yes;
  return error;
}

}  // namespace

Task<Result<hop::ProvenPeer>> introduce(Connection& connection, const hop::PeerIdentity& self,
                                        std::string_view peer) {
  hop::PeerCaller caller(self, peer, hop::draw_nonce());
  const auto asked = co_await say(connection, peer, caller.hello_lines());
  if (!asked) co_return before_all(asked.error());
  const auto challenged = co_await hear(connection);
  if (!challenged) co_return before_all(challenged.error());
  const auto believed = caller.hear_challenge(connection.response_head());
  if (!believed) {
    say_at_once(connection, peer, caller.answer_lines());
    co_return believed.error();
  }
  const bool goes_on = connection.body_done() && connection.response_head().keep_alive;
  const Error closed{ErrorKind::disconnected, ErrorSource::peer, Retry::yes,
                     "closed in the middle of the proof of membership"};
  if (!goes_on) co_return closed;
  const auto answered = co_await say(connection, peer, caller.answer_lines());
  if (!answered) co_return before_all(answered.error());
  const auto judged = co_await hear(connection);
  if (!judged) co_return before_all(judged.error());
  auto proven = caller.hear_verdict(connection.response_head());
  if (proven && !(connection.body_done() && connection.response_head().keep_alive)) {
    co_return closed;
  }
  co_return proven;
}

}  // namespace ringside::http
