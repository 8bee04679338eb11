#include "hop/peer_proof.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::hop {
namespace {

constexpr std::string_view how_to_make_one = "`openssl rand -hex 32` makes one";

// A value and its length, so that no two meetings have the same text.
void append_value(std::string& text, std::string_view value) {
  for (unsigned shift = 32; shift > 0;) {
    shift -= 8;
    text.push_back(static_cast<char>((value.size() >> shift) & 0xffU));
  }
  text.append(value);
}

std::string_view view_of(const std::array<std::uint8_t, 32>& bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_visible(char c) noexcept { return c > ' ' && c < '\x7f'; }

}  // namespace

Result<PeerKeys> PeerKeys::parse(std::string_view text) {
  std::vector<std::string> keys;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (!std::all_of(line.begin(), line.end(), is_visible)) {
      return invalid_input(
          fmt::format("line {} has other characters than letters, digits and signs; {}", number,
                      how_to_make_one));
    }
    if (line.size() < limits::peer_key_least_bytes || line.size() > limits::peer_key_most_bytes) {
      return invalid_input(fmt::format("line {}: a key of {} characters; {} to {} are needed, {}",
                                       number, line.size(), limits::peer_key_least_bytes,
                                       limits::peer_key_most_bytes, how_to_make_one));
    }
    keys.emplace_back(line);
  }
  if (keys.empty()) return invalid_input(fmt::format("there is no key; {}", how_to_make_one));
  if (keys.size() > limits::peer_keys) {
    return invalid_input(
        fmt::format("{} keys; keep the one in use, and while it is replaced the next one below it",
                    keys.size()));
  }
  return PeerKeys(std::move(keys));
}

PeerKeys PeerKeys::random() {
  const Nonce bytes = draw_nonce();
  return PeerKeys({std::string(view_of(bytes))});
}

bool PeerKeys::has(std::string_view key) const noexcept {
  return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
}

std::string_view name(PeerRole role) noexcept {
  return role == PeerRole::sidecar ? "sidecar" : "replica";
}

Nonce draw_nonce() {
  Nonce nonce{};
  RINGSIDE_CHECK(RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) == 1);
  return nonce;
}

Proof prove(std::string_view key, PeerSide side, const PeerMeeting& meeting) {
  std::string text;
  append_value(text, "ringside peer proof 1");
  append_value(text, side == PeerSide::caller ? "caller" : "answerer");
  append_value(text, name(meeting.caller_role));
  append_value(text, meeting.caller);
  append_value(text, meeting.answerer);
  append_value(text, view_of(meeting.caller_nonce));
  append_value(text, view_of(meeting.answerer_nonce));
  append_value(text, meeting.channel);
  Proof proof{};
  unsigned size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  RINGSIDE_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(),
                      proof.data(), &size) != nullptr);
  RINGSIDE_CHECK(size == proof.size());
  return proof;
}

bool is_same(const Proof& a, const Proof& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace ringside::hop
