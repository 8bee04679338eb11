#include "sidecar/shard_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "http/canonical_field.h"
#include "http/characters.h"
#include "http/path_pattern.h"
#include "sidecar/canonical_request.h"

namespace ringside::sidecar {
namespace {

// What Cookie lines say of one cookie.
struct CookieValues {
  std::string text;  // the values, with `;` between them, which no value can hold
  bool found = false;
  // Every origin finds these values and no others.
  bool are_certain = true;
};

// Cookies that readers agree on: a name that is a token, and a value of RFC 6265's octets.
bool is_plain(std::string_view pair, std::size_t equals) noexcept {
  if (equals == std::string_view::npos || !http::is_token(pair.substr(0, equals))) return false;
  const std::string_view value = pair.substr(equals + 1);
  return std::all_of(value.begin(), value.end(), [](char c) {
    return c > ' ' && c < '\x7f' && c != '"' && c != ',' && c != '\\';
  });
}

// PHP reads `a.b` and `a+b` as `a_b`; others take no heed of case.
bool is_read_as(std::string_view found, std::string_view name) noexcept {
  const auto mangled = [](std::string_view text) {
    std::string out(text);
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c == '.' || c == '+'; }, '_');
    return out;
  };
  return http::same_token(mangled(found), mangled(name));
}

// RFC 6265 §4.2.1, and how others read what is not in its grammar: some stop there, some leave it
// out, some take no more than so many.
CookieValues cookie(const http::Fields& fields, std::string_view name) {
  CookieValues values;
  std::size_t cookies = 0;
  for (const http::Field& field : fields) {
    if (!http::same_token(field.name, "cookie")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const auto end = rest.find(';');
      std::string_view pair = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
      const auto equals = pair.find('=');
      const std::string_view found = pair.substr(0, equals);
      const bool is_it = found == name && equals != std::string_view::npos;
      const bool is_like_it = is_read_as(found, name) || found.find('%') != std::string_view::npos;
      const bool is_clear = is_plain(pair, equals) && (is_it || !is_like_it);
      if (!is_clear || ++cookies > limits::cookies_read) values.are_certain = false;
      if (!is_it) continue;
      if (values.found) values.text += ';';
      values.text += pair.substr(equals + 1);
      values.found = true;
    }
  }
  return values;
}

// All lines of a field, each with `\r` behind it, which no value has.
std::string lines_of(const http::Fields& fields, std::string_view name) {
  std::string lines;
  for (const http::Field& field : fields) {
    if (http::same_token(field.name, name)) lines.append(field.value).push_back('\r');
  }
  return lines;
}

// As the origin is sent it; several lines, where they are not one, have `\r` between them.
std::optional<std::string> header(const http::Fields& fields, std::string_view name) {
  std::string lines;
  http::append_canonical(lines, fields, name);
  if (lines.empty()) return std::nullopt;
  lines.pop_back();
  return lines;
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
      return use(header(facts.fields, part.name).value_or(std::string{}));
    case Kind::cookie:
      return use(cookie(facts.fields, part.name).text);
    case Kind::id:
      return use(http::path_segment(facts.target.path, part.segment));
  }
}

// The first id that the path has not; null: it has all.
const shard::KeyPart* missing_id(const shard::KeySpec& key, std::string_view path) noexcept {
  const auto missing =
      std::find_if(key.parts.begin(), key.parts.end(), [&](const shard::KeyPart& part) {
        return part.kind == shard::KeyPart::Kind::id &&
               http::path_segment(path, part.segment).empty();
      });
  return missing == key.parts.end() ? nullptr : &*missing;
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

// `name`, `name=value`, or with all cookies `name*lines`; the lines stand once, whatever the number
// of such parts, so that a head that a client may send fits into what the replica takes.
void append_cookie(std::string& out, const http::Fields& fields, std::string_view name,
                   bool& has_lines) {
  const CookieValues values = cookie(fields, name);
  if (!values.are_certain) {
    out.push_back('*');
    if (!std::exchange(has_lines, true)) append_escaped(out, lines_of(fields, "cookie"));
  } else if (values.found) {
    out.push_back('=');
    append_escaped(out, values.text);
  }
}

void append_header(std::string& out, const http::Fields& fields, std::string_view name) {
  const auto value = header(fields, name);
  if (!value) return;
  out.push_back('=');
  append_escaped(out, *value);
}

// What the value is a value of, and the value: after a change of a route's key, a header's `DE`
// must not meet what was stored for the country.
void append_part(std::string& out, const shard::KeyPart& part, const RequestFacts& facts,
                 bool& has_cookie_lines) {
  using Kind = shard::KeyPart::Kind;
  switch (part.kind) {
    case Kind::country:
      out.append("country=").append(facts.country.code());
      break;
    case Kind::ip:
      out.append("ip=").append(facts.client.text());
      break;
    case Kind::header:
      append_escaped(out.append("header:"), part.name);
      append_header(out, facts.fields, part.name);
      break;
    case Kind::cookie:
      append_escaped(out.append("cookie:"), part.name);
      append_cookie(out, facts.fields, part.name, has_cookie_lines);
      break;
    case Kind::path:
    case Kind::query:
    case Kind::host:
    case Kind::id:
      return;
  }
  out.push_back('&');
}

}  // namespace

Result<shard::KeySpec> located(shard::KeySpec key, std::string_view route_path) {
  for (shard::KeyPart& part : key.parts) {
    if (part.kind != shard::KeyPart::Kind::id || part.name.empty()) continue;
    const auto segment = http::placeholder_segment(route_path, part.name);
    if (!segment) {
      return invalid_input(
          fmt::format("{}: the path {} has no {{{}}}; write it where the id stands, as in "
                      "/users/{{{}}}, or id:N for the Nth segment",
                      part.text(), route_path, part.name, part.name));
    }
    part.segment = *segment;
  }
  return key;
}

Result<const shard::KeySpec*> key_for(const Route& route, const http::Target& target) {
  const shard::KeyPart* const missing = missing_id(route.key, target.path);
  if (missing == nullptr) return &route.key;
  if (route.key_fallback) return &*route.key_fallback;
  return Error{ErrorKind::malformed, ErrorSource::client, Retry::no,
               fmt::format("the path has no segment {}, the {} by which route {} chooses a "
                           "replica; ask for one that has it, or give the route a key_fallback",
                           missing->segment, missing->text(), route.name)};
}

void make_shard_key(std::string& key, const shard::Topology& topology, const Route& route,
                    const shard::KeySpec& keyed_by, const RequestFacts& facts) {
  key.clear();
  if (topology.has_routes()) {
    const bool is_of_route = &keyed_by == &route.key;
    shard::append_key_value(key, is_of_route ? topology.scheme_route(route.name) : "");
  }
  build_shard_key(key, keyed_by, facts);
}

void build_shard_key(std::string& key, const shard::KeySpec& spec, const RequestFacts& facts) {
  for (const shard::KeyPart& part : spec.parts) {
    with_value(part, facts, [&](std::string_view value) { shard::append_key_value(key, value); });
  }
}

void build_extra_key(std::string& out, const shard::KeySpec& spec, const RequestFacts& facts) {
  bool has_cookie_lines = false;
  for (const shard::KeyPart& part : spec.parts) append_part(out, part, facts, has_cookie_lines);
  for (const http::Field& field : facts.fields) {
    if (!is_of_proxies(field.name) || http::is_continued_line(facts.fields, field)) continue;
    append_escaped(out.append("proxy:"), field.name);
    append_header(out, facts.fields, field.name);
    out.push_back('&');
  }
}

void append_shard_key(std::string& out, std::string_view shard_key) {
  append_escaped(out.append("shard="), shard_key);
  out.push_back('&');
}

}  // namespace ringside::sidecar
