#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hop/peer_proof.h"
#include "http/head.h"
#include "http/response.h"

// How two members prove themselves over HTTP: two OPTIONS * at the connection's start.
//
//   caller                                          answerer
//     Ringside-Hello: 1 ROLE CALLER ANSWERER NONCE ─▶
//     ◀─ Ringside-Challenge: NONCE
//        Ringside-Proof: PROOF, one for each of its keys
//     Ringside-Proof: PROOF ─▶                        (by the key that both know)
//     ◀─ 200
//
// Who is not content says `Ringside-Refusal: REASON` instead. The caller says nothing internal
// before the end of this. Pure: nonces are arguments.
namespace ringside::hop {

// The value of Ringside-Hello.
struct PeerHello {
  PeerRole role = PeerRole::sidecar;
  std::string caller;
  std::string answerer;
  Nonce nonce{};
  [[nodiscard]] std::string text() const;
};
// nullopt: it is none, or of another version.
[[nodiscard]] std::optional<PeerHello> parse_peer_hello(std::string_view text);
// 64 hexadecimal digits, lower case.
[[nodiscard]] std::optional<Nonce> parse_peer_digits(std::string_view text) noexcept;
[[nodiscard]] std::string peer_digits(const Nonce& bytes);

// The side that opened the connection. Errors are ErrorKind::untrusted, of the peer; their message
// has the remedy.
class PeerCaller {
 public:
  // `other`: whom the connection is to lead to.
  PeerCaller(const PeerIdentity& self, std::string_view other, const Nonce& nonce);

  [[nodiscard]] std::string hello_lines() const;
  // What came of the hello. Whatever it says, answer_lines() are to be sent after it: where the
  // other side has proved nothing it is told so, and nothing is proved to it.
  [[nodiscard]] Result<void> hear_challenge(const http::ResponseHead& head);
  [[nodiscard]] std::string answer_lines() const;
  // What came of that; the other side has proved itself then.
  [[nodiscard]] Result<ProvenPeer> hear_verdict(const http::ResponseHead& head) const;

 private:
  [[nodiscard]] Error refusal(std::string_view reason) const;

  const PeerIdentity& self_;
  PeerMeeting meeting_;
  std::string key_;  // that both know; empty: none yet
};

// The side that was called: one for each connection.
class PeerDoor {
 public:
  // A word of the handshake, or not. What is to be told to operators, if anything.
  struct Heard {
    bool is_word = false;  // answered in `response`; nothing more is to be done for it
    std::string complaint;
  };
  // To be given each request of the connection, in order. `self` null: there is no key.
  [[nodiscard]] Heard hear(const PeerIdentity* self, const http::RequestHead& request,
                           http::Response& response, Nonce (*draw)() = draw_nonce);
  // Whether requests need not be given any more.
  [[nodiscard]] bool is_settled() const noexcept { return state_ == State::settled; }
  // null: nobody.
  [[nodiscard]] const std::shared_ptr<const ProvenPeer>& proven() const noexcept { return proven_; }

 private:
  enum class State : std::uint8_t { at_start, challenged, settled };
  Heard hear_hello(const PeerIdentity* self, std::string_view text, http::Response& response,
                   Nonce (*draw)());
  Heard hear_answer(const PeerIdentity& self, const http::Fields& fields, http::Response& response);

  State state_ = State::at_start;
  std::unique_ptr<PeerMeeting> meeting_;  // while it is challenged
  std::shared_ptr<const ProvenPeer> proven_;
};

}  // namespace ringside::hop
