#include "hop/peer_handshake.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "http/error_response.h"
#include "http/internal_fields.h"

namespace ringside::hop {
namespace {

namespace internal = http::internal;

constexpr std::string_view version = "1";
// Why a side is not content.
constexpr std::string_view wrong_version = "version";
constexpr std::string_view wrong_name = "name";
constexpr std::string_view wrong_proof = "proof";

constexpr std::string_view same_file = "give both the same --peer-key-file, and reload or restart";

std::optional<unsigned> digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

std::string_view take_word(std::string_view& text) noexcept {
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(std::min(space + 1, text.size()));
  return word;
}

bool is_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > limits::peer_name_bytes) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= '\x7f') return false;
  }
  return true;
}

std::string line(std::string_view name, std::string_view value) {
  return fmt::format("{}: {}\r\n", name, value);
}

void begin_word(http::Response& response, int status) {
  response.begin(status, http::reason_of(status));
  response.fields.add("Content-Length", "0");
}

void begin_refusal(http::Response& response, std::string_view reason) {
  begin_word(response, 403);
  response.fields.add(internal::refusal, reason);
  response.is_last = true;
}

}  // namespace

std::optional<Nonce> parse_peer_digits(std::string_view text) noexcept {
  Nonce bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    const auto high = digit_of(text[2 * index]);
    const auto low = digit_of(text[2 * index + 1]);
    if (!high || !low) return std::nullopt;
    bytes[index] = static_cast<std::uint8_t>(*high << 4U | *low);
  }
  return bytes;
}

std::string peer_digits(const Nonce& bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

std::string PeerHello::text() const {
  return fmt::format("{} {} {} {} {}", version, name(role), caller, answerer, peer_digits(nonce));
}

std::optional<PeerHello> parse_peer_hello(std::string_view text) {
  PeerHello hello;
  if (take_word(text) != version) return std::nullopt;
  const auto role = take_word(text);
  if (role != name(PeerRole::sidecar) && role != name(PeerRole::replica)) return std::nullopt;
  hello.role = role == name(PeerRole::sidecar) ? PeerRole::sidecar : PeerRole::replica;
  const auto caller = take_word(text);
  const auto answerer = take_word(text);
  const auto nonce = parse_peer_digits(text);
  if (!is_name(caller) || !is_name(answerer) || !nonce) return std::nullopt;
  hello.caller = caller;
  hello.answerer = answerer;
  hello.nonce = *nonce;
  return hello;
}

PeerCaller::PeerCaller(const PeerIdentity& self, std::string_view other, const Nonce& nonce)
    : self_(self), meeting_{self.role, self.name, std::string(other),
                            nonce,     Nonce{},   std::string()} {}

std::string PeerCaller::hello_lines() const {
  const PeerHello hello{meeting_.caller_role, meeting_.caller, meeting_.answerer,
                        meeting_.caller_nonce};
  return line(internal::hello, hello.text());
}

// `reason` is what anybody may have said: it is compared and never shown.
Error PeerCaller::refusal(std::string_view reason) const {
  std::string why;
  if (reason == wrong_name) {
    why = fmt::format("another member than {} answers there; correct the members' addresses",
                      meeting_.answerer);
  } else if (reason == wrong_version) {
    why = "it proves membership in another way; run the same release everywhere";
  } else {
    why = fmt::format("it has another peer key; {}", same_file);
  }
  return {ErrorKind::untrusted, ErrorSource::peer, Retry::yes, std::move(why)};
}

Result<void> PeerCaller::hear_challenge(const http::ResponseHead& head) {
  if (const auto reason = head.fields.first(internal::refusal)) return refusal(*reason);
  const auto challenge = head.fields.first(internal::challenge);
  auto proofs = head.fields.first(internal::proof);
  // A replica that is full, or breaks down, is none that lies.
  if (!challenge && head.status >= 500) {
    return Error{ErrorKind::refused, ErrorSource::peer, Retry::yes,
                 fmt::format("it answered {} at the connection's start", head.status)};
  }
  if (!challenge || !proofs) {
    return Error{ErrorKind::untrusted, ErrorSource::peer, Retry::yes,
                 "it does not prove membership: it has no peer key, or is no replica; start it "
                 "with this tier's --peer-key-file"};
  }
  const auto nonce = parse_peer_digits(*challenge);
  if (!nonce) return refusal(wrong_version);
  meeting_.answerer_nonce = *nonce;
  for (std::size_t count = 0; !proofs->empty() && count < limits::peer_keys; ++count) {
    const auto said = parse_peer_digits(take_word(*proofs));
    if (!said) return refusal(wrong_version);
    for (const std::string& key : self_.keys->all()) {
      if (is_same(*said, prove(key, PeerSide::answerer, meeting_))) key_ = key;
    }
  }
  if (key_.empty()) return refusal(wrong_proof);
  return {};
}

std::string PeerCaller::answer_lines() const {
  if (key_.empty()) return line(internal::refusal, wrong_proof);
  return line(internal::proof, peer_digits(prove(key_, PeerSide::caller, meeting_)));
}

Result<ProvenPeer> PeerCaller::hear_verdict(const http::ResponseHead& head) const {
  if (head.status == 200) return ProvenPeer{PeerRole::replica, meeting_.answerer, key_};
  return refusal(wrong_proof);
}

PeerDoor::Heard PeerDoor::hear(const PeerIdentity* self, const http::RequestHead& request,
                               http::Response& response, Nonce (*draw)()) {
  const bool may_be_word = request.method == "OPTIONS" && request.target == "*";
  switch (std::exchange(state_, State::settled)) {
    case State::at_start: {
      const auto hello = may_be_word ? request.fields.first(internal::hello) : std::nullopt;
      return hello ? hear_hello(self, *hello, response, draw) : Heard{};
    }
    case State::challenged:
      // Who had a key and has none would have been started anew.
      if (may_be_word && self != nullptr) return hear_answer(*self, request.fields, response);
      return {false, fmt::format("{} {} has not answered the challenge: what it says is taken for "
                                 "a stranger's",
                                 name(meeting_->caller_role), meeting_->caller)};
    case State::settled:
      break;
  }
  return {};
}

PeerDoor::Heard PeerDoor::hear_hello(const PeerIdentity* self, std::string_view text,
                                     http::Response& response, Nonce (*draw)()) {
  auto hello = parse_peer_hello(text);
  if (self == nullptr) {
    return {false, fmt::format("{} {} wants a proof of membership, but there is no peer key here; "
                               "start this replica with its --peer-key-file",
                               hello ? name(hello->role) : "somebody", hello ? hello->caller : "")};
  }
  if (!hello) {
    begin_refusal(response, wrong_version);
    return {true, "somebody proves membership in another way; run the same release everywhere"};
  }
  if (hello->answerer != self->name) {
    begin_refusal(response, wrong_name);
    return {true,
            fmt::format("{} {} takes this for {}: refused; correct the members' addresses there",
                        name(hello->role), hello->caller, hello->answerer)};
  }
  meeting_ = std::make_unique<PeerMeeting>(PeerMeeting{hello->role, std::move(hello->caller),
                                                       std::move(hello->answerer), hello->nonce,
                                                       draw(), std::string()});
  begin_word(response, 200);
  response.fields.add(internal::challenge, peer_digits(meeting_->answerer_nonce));
  response.fields.add_written(internal::proof, [&](std::string& out) {
    const char* between = "";
    for (const std::string& key : self->keys->all()) {
      out.append(std::exchange(between, " "));
      out.append(peer_digits(prove(key, PeerSide::answerer, *meeting_)));
    }
  });
  state_ = State::challenged;
  return {true, {}};
}

PeerDoor::Heard PeerDoor::hear_answer(const PeerIdentity& self, const http::Fields& fields,
                                      http::Response& response) {
  const auto meeting = std::move(meeting_);
  const auto said = parse_peer_digits(fields.first(internal::proof).value_or(std::string_view{}));
  for (const std::string& key : self.keys->all()) {
    if (!said || !is_same(*said, prove(key, PeerSide::caller, *meeting))) continue;
    proven_ =
        std::make_shared<const ProvenPeer>(ProvenPeer{meeting->caller_role, meeting->caller, key});
    begin_word(response, 200);
    return {true, {}};
  }
  begin_refusal(response, wrong_proof);
  const std::string_view what = fields.has(internal::refusal) ? "has another peer key"
                                : said ? "has another peer key, or repeats an old proof"
                                       : "has proved nothing";
  return {true, fmt::format("{} {} {}: refused; {}", name(meeting->caller_role), meeting->caller,
                            what, same_file)};
}

}  // namespace ringside::hop
