#include "sidecar/shard_decision.h"

#include <optional>

namespace ringside::sidecar {
namespace {

// The values of a cookie (RFC 6265 §4.2.1), with `;` between them, which no value can hold.
std::string cookie(const http::Fields& fields, std::string_view name) {
  std::string values;
  bool found = false;
  for (const http::Field& field : fields) {
    if (!http::same_token(field.name, "cookie")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const auto end = rest.find(';');
      std::string_view pair = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
      const auto equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
      if (found) values += ';';
      values += pair.substr(equals + 1);
      found = true;
    }
  }
  return values;
}

// Whether the line reaches the origin.
bool goes_on(const RequestFacts& facts, std::string_view field_name) {
  return !http::HopByHop(facts.fields).has(field_name);
}

template <class Use>
void with_value(const shard::KeyPart& part, const RequestFacts& facts, const Use& use) {
  using Kind = shard::KeyPart::Kind;
  switch (part.kind) {
    case Kind::country:
      return use(facts.country.code());
    case Kind::ip:
      return use(facts.client.text());
    case Kind::path:
      return use(facts.target.path);
    case Kind::query:
      return use(facts.target.query);
    case Kind::host:
      return use(facts.host);
    case Kind::header:
      return use(goes_on(facts, part.name)
                     ? facts.fields.combined(part.name).value_or(std::string{})
                     : std::string{});
    case Kind::cookie:
      return use(goes_on(facts, "cookie") ? cookie(facts.fields, part.name) : std::string{});
  }
}

// Escapes what may not stand in a field value or would look like the separators.
void append_escaped(std::string& out, std::string_view value) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '%' || c == '&' || c == ',' || c == '=') {
      out.push_back('%');
      out.push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
    } else {
      out.push_back(c);
    }
  }
}

// What the value is a value of: after a change of a route's key, a header's `DE` must not meet what
// was stored for the country.
void append_kind(std::string& out, const shard::KeyPart& part) {
  using Kind = shard::KeyPart::Kind;
  switch (part.kind) {
    case Kind::country:
      out.append("country=");
      return;
    case Kind::ip:
      out.append("ip=");
      return;
    case Kind::header:
    case Kind::cookie:
      out.append(part.kind == Kind::header ? "header:" : "cookie:");
      append_escaped(out, part.name);
      out.push_back('=');
      return;
    case Kind::path:
    case Kind::query:
    case Kind::host:
      return;
  }
}

bool seen_by_replica(shard::KeyPart::Kind kind) noexcept {
  using Kind = shard::KeyPart::Kind;
  return kind == Kind::path || kind == Kind::query || kind == Kind::host;
}

}  // namespace

void build_shard_key(std::string& key, const shard::KeySpec& spec, const RequestFacts& facts) {
  for (const shard::KeyPart& part : spec.parts) {
    with_value(part, facts, [&](std::string_view value) { shard::append_key_value(key, value); });
  }
}

void build_extra_key(std::string& out, const shard::KeySpec& spec, const RequestFacts& facts) {
  for (const shard::KeyPart& part : spec.parts) {
    if (seen_by_replica(part.kind)) continue;
    append_kind(out, part);
    with_value(part, facts, [&](std::string_view value) {
      append_escaped(out, value);
      out.push_back('&');
    });
  }
}

}  // namespace ringside::sidecar
