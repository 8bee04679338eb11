#include "hop/peer_handshake.h"

#include <gmock/gmock.h>

#include "base/limits.h"
#include "http/field_lines.h"
#include "http/internal_fields.h"

namespace ringside::hop {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string first_key(32, 'a');
const std::string second_key(32, 'b');

PeerIdentity identity(PeerRole role, std::string name, const std::string& keys) {
  return {role, std::move(name), std::make_shared<const PeerKeys>(*PeerKeys::parse(keys))};
}
PeerIdentity sidecar(const std::string& keys) {
  return identity(PeerRole::sidecar, "ringside-1", keys);
}
PeerIdentity replica(const std::string& keys) {
  return identity(PeerRole::replica, "cache-0", keys);
}

Nonce replicas_nonce() {
  Nonce nonce{};
  nonce.fill(2);
  return nonce;
}
Nonce callers_nonce() {
  Nonce nonce{};
  nonce.fill(1);
  return nonce;
}

// A request on a connection, and what the door made of it.
struct Turn {
  http::Response response;
  PeerDoor::Heard heard;

  [[nodiscard]] http::ResponseHead head() const {
    http::ResponseHead head;
    head.status = response.status;
    head.fields = http::fields_of(response.fields.text());
    return head;
  }
};

Turn say(PeerDoor& door, const PeerIdentity* self, const std::string& lines,
         std::string_view method = "OPTIONS", std::string_view target = "*") {
  http::RequestHead request;
  request.method = method;
  request.target = target;
  request.fields = http::fields_of(lines);
  Turn turn;
  turn.heard = door.hear(self, request, turn.response, replicas_nonce);
  return turn;
}

// How two members of these names and keys get on.
struct Meeting {
  Meeting(const PeerIdentity& caller_identity, std::string_view called, const PeerIdentity& self)
      : caller(caller_identity, called, callers_nonce()) {
    const Turn first = say(door, &self, caller.hello_lines());
    believed = caller.hear_challenge(first.head());
    last = say(door, &self, caller.answer_lines());
    complaint = first.heard.complaint + last.heard.complaint;
    if (believed) verdict = caller.hear_verdict(last.head());
  }
  PeerDoor door;
  PeerCaller caller;
  Result<void> believed;
  Result<ProvenPeer> verdict = Error{};
  Turn last;
  std::string complaint;
};

TEST(PeerHandshake, WhoHasTheSameKeyIsProvenToTheOther) {
  const Meeting meeting(sidecar(first_key), "cache-0", replica(first_key));
  ASSERT_TRUE(meeting.believed) << meeting.believed.error().message;
  ASSERT_TRUE(meeting.verdict) << meeting.verdict.error().message;
  EXPECT_EQ(meeting.verdict->name, "cache-0");
  ASSERT_NE(meeting.door.proven(), nullptr);
  EXPECT_EQ(meeting.door.proven()->name, "ringside-1");
  EXPECT_EQ(meeting.door.proven()->role, PeerRole::sidecar);
  EXPECT_EQ(meeting.door.proven()->key, first_key);
  EXPECT_TRUE(meeting.door.is_settled());
  EXPECT_EQ(meeting.complaint, "");
}

// While a key is replaced: one of them is enough, in whatever line.
TEST(PeerHandshake, OneKeyInCommonIsEnough) {
  const std::string both = first_key + "\n" + second_key;
  for (const auto& [ours, theirs] :
       std::vector<std::pair<std::string, std::string>>{{first_key, both},
                                                        {second_key, both},
                                                        {both, first_key},
                                                        {both, second_key},
                                                        {both, second_key + "\n" + first_key}}) {
    const Meeting meeting(sidecar(ours), "cache-0", replica(theirs));
    EXPECT_TRUE(meeting.verdict) << ours << " and " << theirs;
    EXPECT_NE(meeting.door.proven(), nullptr);
  }
}

TEST(PeerHandshake, AnotherKeyIsRefusedAndSaidOnBothSides) {
  const Meeting meeting(sidecar(first_key), "cache-0", replica(second_key));
  ASSERT_FALSE(meeting.believed);
  EXPECT_EQ(meeting.believed.error().kind, ErrorKind::untrusted);
  EXPECT_EQ(meeting.believed.error().source, ErrorSource::peer);
  EXPECT_THAT(meeting.believed.error().message, HasSubstr("give both the same --peer-key-file"));
  // The caller has proved nothing to who has proved nothing.
  EXPECT_THAT(meeting.caller.answer_lines(), StartsWith("Ringside-Refusal: proof\r\n"));
  EXPECT_EQ(meeting.last.response.status, 403);
  EXPECT_TRUE(meeting.last.response.is_last);
  EXPECT_EQ(meeting.door.proven(), nullptr);
  EXPECT_THAT(meeting.complaint, StartsWith("sidecar ringside-1 has another peer key: refused"));
}

TEST(PeerHandshake, AnotherReplicaThanWasMeantIsNotUsed) {
  const Meeting meeting(sidecar(first_key), "cache-1", replica(first_key));
  ASSERT_FALSE(meeting.believed);
  EXPECT_THAT(meeting.believed.error().message, HasSubstr("another member than cache-1 answers"));
  EXPECT_EQ(meeting.door.proven(), nullptr);
  EXPECT_THAT(meeting.complaint, HasSubstr("takes this for cache-1"));
}

TEST(PeerHandshake, AReplicaWithoutAKeySaysSoAndIsNotUsed) {
  PeerDoor door;
  const PeerIdentity self = sidecar(first_key);
  PeerCaller caller(self, "cache-0", callers_nonce());
  const Turn turn = say(door, nullptr, caller.hello_lines());
  EXPECT_FALSE(turn.heard.is_word);  // it is answered like any OPTIONS
  EXPECT_THAT(turn.heard.complaint, HasSubstr("there is no peer key here"));
  http::ResponseHead plain;
  plain.status = 200;
  const auto believed = caller.hear_challenge(plain);
  ASSERT_FALSE(believed);
  EXPECT_THAT(believed.error().message, HasSubstr("start it with this tier's --peer-key-file"));
}

// Its 503 was taken for that of an impostor, and the replica was not used any more.
TEST(PeerHandshake, AReplicaThatIsFullIsNoImpostor) {
  const PeerIdentity self = sidecar(first_key);
  PeerCaller caller(self, "cache-0", callers_nonce());
  http::ResponseHead busy;
  busy.status = 503;
  const auto believed = caller.hear_challenge(busy);
  ASSERT_FALSE(believed);
  EXPECT_EQ(believed.error().kind, ErrorKind::refused);
  EXPECT_EQ(believed.error().retry, Retry::yes);
}

TEST(PeerHandshake, AnOldProofIsWorthNothing) {
  const PeerIdentity self = replica(first_key);
  const PeerIdentity other = sidecar(first_key);
  PeerCaller caller(other, "cache-0", callers_nonce());
  PeerDoor before;
  ASSERT_TRUE(caller.hear_challenge(say(before, &self, caller.hello_lines()).head()));
  const std::string proof = caller.answer_lines();
  ASSERT_EQ(say(before, &self, proof).response.status, 200);
  // The same words again, on another connection with its own nonce.
  PeerDoor door;
  http::RequestHead hello;
  hello.method = "OPTIONS";
  hello.target = "*";
  const std::string lines = caller.hello_lines();
  hello.fields = http::fields_of(lines);
  http::Response response;
  EXPECT_TRUE(door.hear(&self, hello, response).is_word);
  const Turn replayed = say(door, &self, proof);
  EXPECT_EQ(replayed.response.status, 403);
  EXPECT_EQ(door.proven(), nullptr);
  EXPECT_THAT(replayed.heard.complaint, HasSubstr("repeats an old proof"));
}

TEST(PeerHandshake, AReplicasOwnProofProvesNothingToIt) {
  const PeerIdentity self = replica(first_key);
  PeerDoor door;
  const PeerHello hello{PeerRole::sidecar, "mallory", "cache-0", callers_nonce()};
  const Turn challenge = say(door, &self, "Ringside-Hello: " + hello.text() + "\r\n");
  const auto proof = std::string(*challenge.head().fields.first(http::internal::proof));
  EXPECT_EQ(say(door, &self, "Ringside-Proof: " + proof + "\r\n").response.status, 403);
  EXPECT_EQ(door.proven(), nullptr);
}

TEST(PeerHandshake, WhoSaysSomethingElseFirstStaysAStranger) {
  const PeerIdentity self = replica(first_key);
  const PeerIdentity other = sidecar(first_key);
  const PeerCaller caller(other, "cache-0", callers_nonce());
  for (const auto& [method, target] :
       {std::pair("GET", "/"), std::pair("OPTIONS", "/"), std::pair("GET", "*")}) {
    PeerDoor door;
    EXPECT_FALSE(say(door, &self, caller.hello_lines(), method, target).heard.is_word);
    EXPECT_TRUE(door.is_settled());
    EXPECT_FALSE(say(door, &self, caller.hello_lines()).heard.is_word);
    EXPECT_EQ(door.proven(), nullptr);
  }
  PeerDoor door;
  EXPECT_TRUE(say(door, &self, caller.hello_lines()).heard.is_word);
  const Turn other_word = say(door, &self, "", "GET", "/");
  EXPECT_FALSE(other_word.heard.is_word);
  EXPECT_THAT(other_word.heard.complaint, HasSubstr("has not answered the challenge"));
  EXPECT_EQ(door.proven(), nullptr);
}

TEST(PeerHandshake, AHelloIsReadToTheLetter) {
  const std::string digits(64, 'f');
  EXPECT_TRUE(parse_peer_hello("1 sidecar a b " + digits));
  EXPECT_TRUE(parse_peer_hello("1 replica a b " + digits));
  for (const std::string& text :
       {std::string(), std::string("1"), "2 sidecar a b " + digits, "1 origin a b " + digits,
        "1 sidecar  b " + digits, "1 sidecar a  " + digits, "1 sidecar a b  " + digits,
        "1 sidecar a b " + digits + " ", "1 sidecar a b " + digits + "f",
        "1 sidecar a b " + digits.substr(1), "1 sidecar a b " + std::string(64, 'F'),
        "1 sidecar a b " + std::string(64, 'g'),
        "1 sidecar " + std::string(limits::peer_name_bytes + 1, 'n') + " b " + digits,
        "1 sidecar a\t b " + digits}) {
    EXPECT_FALSE(parse_peer_hello(text)) << text;
    PeerDoor door;
    const PeerIdentity self = replica(first_key);
    EXPECT_EQ(say(door, &self, "Ringside-Hello: " + text + "\r\n").response.status, 403);
  }
}

TEST(PeerHandshake, ChallengesThatAreNoneAreRefused) {
  const PeerIdentity self = sidecar(first_key);
  for (const std::string& lines :
       {std::string("Ringside-Challenge: x\r\nRingside-Proof: y\r\n"),
        "Ringside-Challenge: " + std::string(64, '0') + "\r\nRingside-Proof: y\r\n",
        "Ringside-Challenge: " + std::string(64, '0') + "\r\nRingside-Proof: " +
            std::string(64, '0') + " " + std::string(64, '1') + " " + std::string(64, '2') + "\r\n",
        std::string("Ringside-Refusal: version\r\n"), std::string("Ringside-Refusal: \r\n")}) {
    PeerCaller caller(self, "cache-0", callers_nonce());
    http::ResponseHead head;
    head.status = 200;
    head.fields = http::fields_of(lines);
    const auto believed = caller.hear_challenge(head);
    ASSERT_FALSE(believed) << lines;
    EXPECT_EQ(believed.error().kind, ErrorKind::untrusted);
    EXPECT_EQ(believed.error().retry, Retry::yes);
  }
}

}  // namespace
}  // namespace ringside::hop
