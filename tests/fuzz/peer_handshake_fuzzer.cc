// What a stranger says at the start of a connection to a replica, and what one that is called
// answers a sidecar.
#include <string>

#include "hop/peer_handshake.h"
#include "http/field_lines.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

hop::Nonce fixed_nonce() { return {}; }

const hop::PeerIdentity& member(hop::PeerRole role) {
  static const auto keys = std::make_shared<const hop::PeerKeys>(
      *hop::PeerKeys::parse(std::string(32, 'k') + "\n" + std::string(32, 'l')));
  static const hop::PeerIdentity sidecar{hop::PeerRole::sidecar, "ringside-1", keys};
  static const hop::PeerIdentity replica{hop::PeerRole::replica, "cache-0", keys};
  return role == hop::PeerRole::sidecar ? sidecar : replica;
}

// Every line of the input is a request of its own: the value of one of our fields, or another one.
void knock(std::string_view input) {
  hop::PeerDoor door;
  for (const std::string_view text : lines_of(input)) {
    http::RequestHead request;
    request.method = "OPTIONS";
    request.target = "*";
    request.fields.add("Ringside-Hello", text);
    request.fields.add("Ringside-Proof", text);
    http::Response response;
    const auto heard = door.hear(&member(hop::PeerRole::replica), request, response, fixed_nonce);
    RINGSIDE_CHECK(heard.is_word == (response.status != 0));
    if (const auto hello = hop::parse_peer_hello(text)) RINGSIDE_CHECK(hello->text() == text);
  }
  // Nobody guesses a proof.
  RINGSIDE_CHECK(door.proven() == nullptr);
}

void answer(std::string_view input) {
  hop::PeerCaller caller(member(hop::PeerRole::sidecar), "cache-0", fixed_nonce());
  const auto lines = lines_of(input);
  http::ResponseHead head;
  head.status = 200;
  constexpr std::string_view names[] = {"Ringside-Challenge", "Ringside-Proof", "Ringside-Refusal"};
  for (std::size_t index = 0; index < lines.size() && index < 3; ++index) {
    if (!lines[index].empty()) head.fields.add(names[index], lines[index]);
  }
  const auto believed = caller.hear_challenge(head);
  RINGSIDE_CHECK(!believed);
  RINGSIDE_CHECK(believed.error().kind == ErrorKind::untrusted);
  check_message(believed.error());
  RINGSIDE_CHECK(caller.answer_lines() == "Ringside-Refusal: proof\r\n");
}

}  // namespace

void examine(std::string_view input) {
  knock(input);
  answer(input);
  if (const auto keys = hop::PeerKeys::parse(input); !keys) check_message(keys.error());
}

}  // namespace ringside::fuzz
