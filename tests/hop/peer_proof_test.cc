#include "hop/peer_proof.h"

#include <gmock/gmock.h>

#include <functional>

#include "base/limits.h"
#include "hop/peer_handshake.h"

namespace ringside::hop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string key(32, 'k');

Nonce filled(std::uint8_t byte) {
  Nonce nonce{};
  nonce.fill(byte);
  return nonce;
}

PeerMeeting some_meeting() {
  return {PeerRole::sidecar, "ringside-5d1f09ab", "cache-3", filled(1), filled(2), ""};
}

// Made by another HMAC-SHA256 (Python's) over the same text: what it is made of never changes.
TEST(PeerProof, IsTheSameInEveryRelease) {
  EXPECT_EQ(peer_digits(prove(key, PeerSide::caller, some_meeting())),
            "38fe9d0a79c2224f4c7badac07b822b06129f670ce5b40544a48bc5de8322a97");
  EXPECT_EQ(peer_digits(prove(key, PeerSide::answerer, some_meeting())),
            "ccfe4b5ff313d0b9cc1a7492464fc5e5c9c1ba64b1117f8c49559df826c62364");
}

TEST(PeerProof, HoldsForOneMeetingAlone) {
  struct Case {
    std::string what;
    std::function<void(PeerMeeting&)> change;
  };
  const std::vector<Case> cases{
      {"another role", [](PeerMeeting& m) { m.caller_role = PeerRole::replica; }},
      {"another caller", [](PeerMeeting& m) { m.caller = "ringside-00000000"; }},
      {"another replica", [](PeerMeeting& m) { m.answerer = "cache-4"; }},
      {"a name's end moved",
       [](PeerMeeting& m) {
         m.caller += "c";
         m.answerer = "ache-3";
       }},
      {"another connection, by the caller", [](PeerMeeting& m) { m.caller_nonce = filled(3); }},
      {"another connection, by the replica", [](PeerMeeting& m) { m.answerer_nonce = filled(3); }},
      {"the nonces exchanged", [](PeerMeeting& m) { std::swap(m.caller_nonce, m.answerer_nonce); }},
      {"another channel", [](PeerMeeting& m) { m.channel = "tls"; }},
  };
  const Proof proof = prove(key, PeerSide::caller, some_meeting());
  EXPECT_TRUE(is_same(proof, prove(key, PeerSide::caller, some_meeting())));
  EXPECT_FALSE(is_same(proof, prove(key, PeerSide::answerer, some_meeting()))) << "the other side";
  EXPECT_FALSE(is_same(proof, prove(std::string(32, 'l'), PeerSide::caller, some_meeting())));
  for (const Case& one : cases) {
    PeerMeeting meeting = some_meeting();
    one.change(meeting);
    EXPECT_FALSE(is_same(proof, prove(key, PeerSide::caller, meeting))) << one.what;
  }
}

TEST(PeerProof, NoncesAreNeverTheSame) { EXPECT_NE(draw_nonce(), draw_nonce()); }

TEST(PeerKeys, AreTheLinesOfAFile) {
  const std::string other(limits::peer_key_most_bytes, 'o');
  EXPECT_THAT(PeerKeys::parse(key)->all(), ElementsAre(key));
  EXPECT_THAT(PeerKeys::parse(key + "\n")->all(), ElementsAre(key));
  EXPECT_THAT(PeerKeys::parse("\n" + key + " \r\n\r\n" + other + "\n")->all(),
              ElementsAre(key, other));
  EXPECT_TRUE(PeerKeys::parse(key)->has(key));
  EXPECT_FALSE(PeerKeys::parse(key)->has(other));
  EXPECT_FALSE(PeerKeys::random().has(PeerKeys::random().all().front()));
}

TEST(PeerKeys, ErrorsHaveTheRemedyAndNotTheKey) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "there is no key; `openssl rand -hex 32` makes one"},
      {" \n\r\n", "there is no key"},
      {key + "\nsecret", "line 2: a key of 6 characters; 32 to 256 are needed"},
      {std::string(limits::peer_key_most_bytes + 1, 's'), "line 1: a key of 257 characters"},
      {"secret key in words of more than enough characters", "line 1 has other characters"},
      {key + "\n" + key + "\n" + key, "3 keys; keep the one in use"},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = PeerKeys::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr(message));
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("secret")));
    EXPECT_THAT(parsed.error().message, Not(HasSubstr(key)));
  }
}

}  // namespace
}  // namespace ringside::hop
