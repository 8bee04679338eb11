#include "http/forwarded.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::http {
namespace {

// A hop before its parts are copied.
struct ReadHop {
  std::optional<IpAddress> address;
  std::string_view proto;
};

// What a pair of a forwarded-element says, with quotes and escapes already removed. A value longer
// than the buffer is neither an address nor a scheme that we know, and reads as empty.
class PairValue {
 public:
  void add(char c) noexcept {
    if (size_ < text_.size()) text_[size_] = c;
    ++size_;
  }
  [[nodiscard]] std::string_view text() const noexcept {
    return {text_.data(), size_ <= text_.size() ? size_ : 0};
  }

 private:
  std::array<char, 64> text_{};
  std::size_t size_ = 0;
};

// Takes a token from the front of `rest`; empty where there is none.
std::string_view take_token(std::string_view& rest) noexcept {
  std::size_t size = 0;
  while (size < rest.size() && is_in(rest[size], kTokenClass)) ++size;
  const std::string_view token = rest.substr(0, size);
  rest.remove_prefix(size);
  return token;
}

// Takes a token or quoted-string (RFC 9110 §5.6.4) from the front; false where there is neither.
bool take_value(std::string_view& rest, PairValue& value) noexcept {
  if (rest.empty() || rest.front() != '"') {
    const std::string_view token = take_token(rest);
    for (const char c : token) value.add(c);
    return !token.empty();
  }
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return true;
    }
    if (rest[i] == '\\' && ++i == rest.size()) return false;
    if (!is_in(rest[i], kValueClass)) return false;
    value.add(rest[i]);
  }
  return false;
}

void skip_space(std::string_view& rest) noexcept {
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
}

bool is_digits(std::string_view text, std::size_t most) noexcept {
  return !text.empty() && text.size() <= most &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_in(c, kDigitClass); });
}

// node-port of RFC 7239 §6.3: digits, or an obfuscated `_name`.
bool is_node_port(std::string_view text) noexcept {
  if (is_digits(text, 5)) return true;
  return text.size() > 1 && text.front() == '_' &&
         std::all_of(text.begin() + 1, text.end(),
                     [](char c) { return is_in(c, kUnreservedClass) && c != '~'; });
}

enum class BareV6 { refused, accepted };

// `192.0.2.1`, `[2001:db8::1]`, either with a port; X-Forwarded-For has IPv6 without brackets too.
// Nothing for `unknown`, `_name` and whatever else.
std::optional<IpAddress> node_address(std::string_view node, BareV6 bare_v6) noexcept {
  if (node.starts_with('[')) {
    const std::size_t bracket = node.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    const std::string_view behind = node.substr(bracket + 1);
    if (!behind.empty() && !(behind.front() == ':' && is_node_port(behind.substr(1)))) {
      return std::nullopt;
    }
    const std::string_view inside = node.substr(1, bracket - 1);
    if (inside.find(':') == std::string_view::npos) return std::nullopt;
    return IpAddress::try_parse(inside);
  }
  const std::size_t colon = node.find(':');
  if (colon == std::string_view::npos) return IpAddress::try_parse(node);
  if (node.find(':', colon + 1) != std::string_view::npos) {
    return bare_v6 == BareV6::accepted ? IpAddress::try_parse(node) : std::nullopt;
  }
  if (!is_node_port(node.substr(colon + 1))) return std::nullopt;
  return IpAddress::try_parse(node.substr(0, colon));
}

// One forwarded-element (RFC 7239 §4): pairs `token=value` between semicolons. White space around
// semicolons, which the grammar lacks and many senders write, is let pass; a parameter that we read
// and that stands twice is not. nullopt: malformed. `proto` keeps what proto= says.
std::optional<ReadHop> parse_element(std::string_view rest, PairValue& proto) noexcept {
  ReadHop hop;
  bool has_for = false;
  bool has_proto = false;
  while (true) {
    skip_space(rest);
    const std::string_view name = take_token(rest);
    if (!name.empty()) {
      if (rest.empty() || rest.front() != '=') return std::nullopt;
      rest.remove_prefix(1);
      PairValue other;
      const bool is_for = same_token(name, "for");
      const bool is_proto = same_token(name, "proto");
      if ((is_for && has_for) || (is_proto && has_proto)) return std::nullopt;
      if (!take_value(rest, is_proto ? proto : other)) return std::nullopt;
      if (is_for) hop.address = node_address(other.text(), BareV6::refused);
      has_for = has_for || is_for;
      has_proto = has_proto || is_proto;
      skip_space(rest);
    }
    if (rest.empty()) break;
    if (rest.front() != ';') return std::nullopt;
    rest.remove_prefix(1);
  }
  hop.proto = proto.text();
  return hop;
}

enum class Quotes { none, strings };

// The last members of a header that proxies continue, as they stand there.
class LastMembers {
 public:
  LastMembers(const Fields& fields, std::string_view header, Quotes quotes) noexcept {
    fields.for_each(header, [&](std::string_view line) { add_line(line, quotes); });
  }

  [[nodiscard]] std::size_t size() const noexcept { return std::min(added_, texts_.size()); }
  [[nodiscard]] std::string_view from_right(std::size_t index) const noexcept {
    return texts_[(added_ - 1 - index) % texts_.size()];
  }

 private:
  // Each line for itself: a quotation mark that a client left open swallows nothing of the line
  // that a proxy adds. Where there are no quoted strings it swallows nothing at all.
  void add_line(std::string_view line, Quotes quotes) noexcept {
    if (quotes == Quotes::strings) {
      for_each_member(line, [this](std::string_view member) { add(member); });
      return;
    }
    for (std::size_t start = 0; start < line.size();) {
      const std::size_t end = std::min(line.find(',', start), line.size());
      const std::string_view member = trimmed(line.substr(start, end - start));
      if (!member.empty()) add(member);
      start = end + 1;
    }
  }

  void add(std::string_view text) noexcept { texts_[added_++ % texts_.size()] = text; }

  std::array<std::string_view, limits::forwarded_hops> texts_;  // a ring
  std::size_t added_ = 0;
};

// The last elements of the header that tells the hops.
class HopTexts {
 public:
  HopTexts(const Fields& fields, std::string_view from) noexcept
      : forwarded_(same_token(from, "forwarded")),
        texts_(fields, from, forwarded_ ? Quotes::strings : Quotes::none) {}

  [[nodiscard]] bool are_forwarded() const noexcept { return forwarded_; }
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

  // The hop `index` from the right. A view of its proto lives as long as `proto` does.
  [[nodiscard]] ReadHop from_right(std::size_t index, PairValue& proto) const noexcept {
    const std::string_view text = texts_.from_right(index);
    if (!forwarded_) return {node_address(text, BareV6::accepted), {}};
    return parse_element(text, proto).value_or(ReadHop{});
  }

 private:
  bool forwarded_;
  LastMembers texts_;
};

std::optional<Scheme> scheme_of(std::string_view proto) noexcept {
  if (same_token(proto, "https")) return Scheme::https;
  if (same_token(proto, "http")) return Scheme::http;
  return std::nullopt;
}

// What X-Forwarded-Proto says in the place of the hop `index` from the right.
std::optional<Scheme> told_apart(const Fields& fields, std::size_t index) noexcept {
  if (!fields.has("X-Forwarded-Proto")) return std::nullopt;
  const LastMembers protos(fields, "X-Forwarded-Proto", Quotes::none);
  if (protos.size() == 0) return std::nullopt;
  return scheme_of(protos.from_right(std::min(index, protos.size() - 1)));
}

}  // namespace

std::vector<ForwardedHop> forwarded_hops(const Fields& fields, std::string_view from) {
  const HopTexts texts(fields, from);
  std::vector<ForwardedHop> hops(texts.size());
  for (std::size_t i = 0; i < hops.size(); ++i) {
    PairValue proto;
    const ReadHop hop = texts.from_right(i, proto);
    ForwardedHop& out = hops[hops.size() - 1 - i];
    out.address = hop.address;
    std::transform(hop.proto.begin(), hop.proto.end(), std::back_inserter(out.proto), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
  }
  return hops;
}

ToldClient told_client(const IpAddress& peer, const Fields& fields,
                       const std::vector<Network>& trusted, std::string_view from) {
  ToldClient client{peer, std::nullopt};
  if (!any_contains(trusted, peer)) return client;
  const HopTexts texts(fields, from);
  std::size_t last = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    PairValue proto;
    const ReadHop hop = texts.from_right(i, proto);
    client.scheme = scheme_of(hop.proto);
    last = i;
    if (!hop.address) break;
    client.address = *hop.address;
    if (!any_contains(trusted, client.address)) break;
  }
  if (!texts.are_forwarded()) client.scheme = told_apart(fields, last);
  return client;
}

void append_forwarded(std::string& out, const IpAddress& client, std::string_view proto) {
  if (client.is_v4()) {
    out.append("for=").append(client.text());
  } else {
    out.append("for=\"[").append(client.text()).append("]\"");
  }
  if (!proto.empty()) out.append(";proto=").append(proto);
}

}  // namespace ringside::http
