#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// How members of a tier show each other that they know its key, without telling it. Values in,
// values out, whatever carries them: docs/decisions/peer-proof.md tells why it is done this way.
namespace ringside::hop {

// The keys by which the members of a tier know each other: one, or two while it is being replaced.
class PeerKeys {
 public:
  // A key file's text: a key a line. The Error says what is wrong with it, and the remedy; it never
  // shows any of it.
  [[nodiscard]] static Result<PeerKeys> parse(std::string_view text);
  // For members that are all in one process.
  [[nodiscard]] static PeerKeys random();

  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return keys_; }
  [[nodiscard]] bool has(std::string_view key) const noexcept;

 private:
  explicit PeerKeys(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  std::vector<std::string> keys_;  // not empty
};

enum class PeerRole { sidecar, replica };
[[nodiscard]] std::string_view name(PeerRole role) noexcept;

// 32 bytes: what a side has drawn for one connection and never uses again, or what it proves.
using Nonce = std::array<std::uint8_t, 32>;
using Proof = std::array<std::uint8_t, 32>;
[[nodiscard]] Nonce draw_nonce();

// Everything that both sides know of a connection between two members and that a proof holds for.
struct PeerMeeting {
  PeerRole caller_role = PeerRole::sidecar;  // who opened the connection
  std::string caller;
  std::string answerer;
  Nonce caller_nonce{};
  Nonce answerer_nonce{};
  // What the connection itself is known by at both ends, where it has such a thing (under TLS, RFC
  // 9266); empty: the nonces alone tell it from others.
  std::string channel;
};

enum class PeerSide { caller, answerer };

// What `side` says of the meeting to who knows the key. Different for the two sides, so that
// neither can give the other's own words back.
[[nodiscard]] Proof prove(std::string_view key, PeerSide side, const PeerMeeting& meeting);
// In constant time.
[[nodiscard]] bool is_same(const Proof& a, const Proof& b) noexcept;

// Who a process is to its peers, and the keys that it knows.
struct PeerIdentity {
  PeerRole role = PeerRole::replica;
  std::string name;
  std::shared_ptr<const PeerKeys> keys;  // never null
};

// Who has proved to be a member, by which key.
struct ProvenPeer {
  PeerRole role = PeerRole::replica;
  std::string name;
  std::string key;
};

}  // namespace ringside::hop
