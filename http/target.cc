#include "http/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/address.h"
#include "http/characters.h"
#include "http/fields.h"

namespace ringside::http {
namespace {

constexpr unsigned kPortLast = 65535;

Error malformed(const char* why) {
  return {ErrorKind::malformed, ErrorSource::client, Retry::no, why};
}

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

void append_encoded(std::string& out, unsigned value) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out += {'%', digits[value >> 4], digits[value & 0xf]};
}

// The value of the two hexadecimal digits after the '%' at `at`, or -1.
int encoded_value(std::string_view text, std::size_t at) noexcept {
  if (text.size() - at < 3) return -1;
  const int high = hex_value(text[at + 1]);
  const int low = hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

constexpr bool is_upper_hex(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

// How many bytes of `text` are a path in its one form already, up to its end or a '?'. Stops at
// what has to be looked at: a percent-encoding, a byte outside the grammar, a dot that begins a
// segment.
std::size_t normal_path_size(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_in(text[i], kPathClass)) return i;
    if (text[i] == '.' && i != 0 && text[i - 1] == '/') return i;
  }
  return text.size();
}

std::size_t normal_query_size(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    if (is_in(text[i], kQueryClass)) {
      i += 1;
    } else if (text[i] == '%' && text.size() - i >= 3 && is_upper_hex(text[i + 1]) &&
               is_upper_hex(text[i + 2])) {
      i += 3;
    } else {
      return i;
    }
  }
  return i;
}

// RFC 3986 §5.2.4, in place. The path starts with '/' and comes out no longer than it was.
void remove_dot_segments(std::string& path) {
  std::size_t out = 0;
  for (std::size_t in = 0; in < path.size();) {
    const std::size_t end = std::min(path.find('/', in + 1), path.size());
    const std::string_view segment = std::string_view(path).substr(in + 1, end - in - 1);
    const bool up = segment == "..";
    if (up || segment == ".") {
      while (up && out > 0 && path[--out] != '/') {
      }
      if (end == path.size()) path[out++] = '/';
    } else {
      while (in != end) path[out++] = path[in++];
    }
    in = end;
  }
  path.resize(out);
}

// Appends the rest of a path, decoded and encoded as its one form wants it, but for dot segments.
Result<void> append_path(std::string_view text, std::string& path) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in(c, kPathClass)) {
      path += c;
    } else if (c == '%') {
      const int value = encoded_value(text, i);
      if (value < 0) return malformed("broken percent-encoding in the path");
      if (value == 0) return malformed("%00 in the path");
      const char decoded = static_cast<char>(value);
      if (is_in(decoded, kUnreservedClass)) {
        path += decoded;
      } else {
        append_encoded(path, static_cast<unsigned>(value));
      }
      i += 2;
    } else if (is_in(c, kEscapedClass)) {
      append_encoded(path, static_cast<unsigned char>(c));
    } else {
      return malformed(c == '#' ? "a fragment in the target" : "space or control byte in the path");
    }
  }
  return {};
}

Result<void> append_query(std::string_view text, std::string& query) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in(c, kQueryClass)) {
      query += c;
    } else if (c == '%') {
      const int value = encoded_value(text, i);
      if (value < 0) {
        query += c;
      } else {
        append_encoded(query, static_cast<unsigned>(value));
        i += 2;
      }
    } else if (is_in(c, kEscapedClass)) {
      append_encoded(query, static_cast<unsigned char>(c));
    } else {
      return malformed(c == '#' ? "a fragment in the target"
                                : "space or control byte in the query");
    }
  }
  return {};
}

// `text` starts with '/' and may have a query.
Result<void> normalise_origin_form(std::string_view text, Target& target) {
  std::size_t path_size = normal_path_size(text);
  target.path.assign(text.substr(0, path_size));
  if (path_size != text.size() && text[path_size] != '?') {
    const std::size_t normal = path_size;
    path_size = std::min(text.find('?', normal), text.size());
    const auto appended = append_path(text.substr(normal, path_size - normal), target.path);
    if (!appended) return appended.error();
    remove_dot_segments(target.path);
  }
  target.query.clear();
  target.has_query = path_size != text.size();
  if (!target.has_query) return {};
  const std::string_view query = text.substr(path_size + 1);
  const std::size_t normal = normal_query_size(query);
  target.query.assign(query.substr(0, normal));
  return append_query(query.substr(normal), target.query);
}

bool is_name(std::string_view name) noexcept {
  char before = '.';  // so that no label is empty, the first and the last included
  for (const char c : name) {
    if (!is_in(c, kHostClass) || (c == '.' && before == '.')) return false;
    before = c;
  }
  return before != '.';
}

bool is_ipv6_literal(std::string_view text) {
  if (text.size() < 4 || text.front() != '[' || text.back() != ']') return false;
  const std::string_view inner = text.substr(1, text.size() - 2);
  return inner.find(':') != inner.npos && IpAddress::parse(inner).has_value();
}

// 1 to 65535; 0 for an empty one, which means the default; nullopt for anything else.
std::optional<std::uint16_t> parse_port(std::string_view digits) noexcept {
  unsigned port = 0;
  for (const char c : digits) {
    if (!is_in(c, kDigitClass)) return std::nullopt;
    port = port * 10 + static_cast<unsigned>(c - '0');
    if (port > kPortLast) return std::nullopt;
  }
  if (port == 0 && !digits.empty()) return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

}  // namespace

std::string Target::text() const {
  std::string out;
  out.reserve(path.size() + 1 + query.size());
  out += path;
  if (has_query) out.append(1, '?').append(query);
  return out;
}

std::optional<AbsoluteTarget> split_absolute(std::string_view request_target) noexcept {
  const std::size_t colon = request_target.find(':');
  if (colon == request_target.npos) return std::nullopt;
  const std::string_view scheme = request_target.substr(0, colon);
  if (!same_token(scheme, "http") && !same_token(scheme, "https")) return std::nullopt;
  std::string_view rest = request_target.substr(colon + 1);
  if (!rest.starts_with("//")) return std::nullopt;
  rest.remove_prefix(2);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  return AbsoluteTarget{rest.substr(0, end), rest.substr(end)};
}

Result<void> normalise_target(std::string_view request_target, Target& target) {
  if (request_target.starts_with('/')) return normalise_origin_form(request_target, target);
  if (request_target == "*") {
    target.path = "*";
    target.query.clear();
    target.has_query = false;
    return {};
  }
  const auto absolute = split_absolute(request_target);
  if (!absolute) return malformed("a target that starts with neither / nor http://");
  if (absolute->rest.starts_with('/')) return normalise_origin_form(absolute->rest, target);
  return normalise_origin_form("/" + std::string(absolute->rest), target);
}

std::optional<HostParts> split_host(std::string_view host) {
  HostParts parts;
  const bool bracketed = host.starts_with('[');
  const std::size_t name_end =
      bracketed ? host.find(']') + 1 : std::min(host.find(':'), host.size());
  parts.name = host.substr(0, name_end);
  const std::string_view rest = host.substr(name_end);
  if (!rest.empty()) {
    const auto port = rest.front() == ':' ? parse_port(rest.substr(1)) : std::nullopt;
    if (!port) return std::nullopt;
    parts.port = *port;
  }
  if (bracketed) return is_ipv6_literal(parts.name) ? std::optional(parts) : std::nullopt;
  if (parts.name.ends_with('.')) parts.name.remove_suffix(1);
  return is_name(parts.name) ? std::optional(parts) : std::nullopt;
}

Result<void> normalise_host(std::string_view host, std::string& out) {
  const auto parts = split_host(host);
  if (!parts) return malformed("invalid host");
  out.assign(parts->name);
  for (char& c : out) c = to_lower(c);
  constexpr std::uint16_t http_port = 80;
  if (parts->port != 0 && parts->port != http_port) {
    fmt::format_to(std::back_inserter(out), ":{}", parts->port);
  }
  return {};
}

}  // namespace ringside::http
