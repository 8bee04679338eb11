#include "http/hop.h"

#include <fmt/format.h>

#include <charconv>
#include <random>
#include <utility>

#include "base/limits.h"

namespace ringside::http {
namespace {

// RFC 9110 §7.6.3: protocol, received-by, and a comment that others may have taken away.
bool has_been_here(std::string_view via, std::string_view own_via, std::size_t& elements) {
  bool found = false;
  for_each_member(via, [&](std::string_view member) {
    ++elements;
    const std::size_t space = member.find(' ');
    if (space != std::string_view::npos && trimmed(member.substr(space)) == own_via) found = true;
  });
  return found;
}

std::optional<std::uint64_t> max_forwards_of(const Fields& fields) noexcept {
  const auto text = fields.first("max-forwards");
  if (!text) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

bool lists(const std::optional<std::string>& field, std::string_view token) {
  bool found = false;
  if (!field) return false;
  for_each_member(*field, [&](std::string_view member) {
    if (same_token(member, token)) found = true;
  });
  return found;
}

}  // namespace

std::string random_mark() {
  std::random_device source;
  return fmt::format("{:08x}", static_cast<std::uint32_t>(source()));
}

HopIdentity::HopIdentity(std::string name_of_hop, std::string pseudonym, std::string_view mark)
    : name(std::move(name_of_hop)),
      via_name(pseudonym.empty() ? name : std::move(pseudonym)),
      via(fmt::format("{} ({})", via_name, mark)) {}

void append_via_member(std::string& out, int minor_version, std::string_view received_by) {
  out.append(minor_version == 0 ? "1.0 " : "1.1 ").append(received_by);
}

std::string via_member(int minor_version, std::string_view received_by) {
  std::string member;
  append_via_member(member, minor_version, received_by);
  return member;
}

Result<Hop> look_at_hop(const RequestHead& request, std::string_view own_via) {
  if (request.method == "TRACE") {
    return Error{ErrorKind::method_not_allowed, ErrorSource::client, Retry::no,
                 "TRACE is not allowed here"};
  }
  std::size_t elements = 0;
  bool is_loop = false;
  request.fields.for_each("via", [&](std::string_view via) {
    is_loop = has_been_here(via, own_via, elements) || elements > limits::via_elements;
    return !is_loop;
  });
  if (is_loop) {
    return Error{ErrorKind::loop, ErrorSource::client, Retry::no,
                 "the request goes round in circles; look at where the origins lead"};
  }
  Hop hop;
  if (request.method == "OPTIONS") {
    const auto left = max_forwards_of(request.fields);
    hop.answer_here = left == 0U;
    if (left && *left > 0) hop.max_forwards = *left - 1;
  }
  hop.upgrades = request.method == "GET" && request.minor_version >= 1 &&
                 request.framing.kind == Framing::Kind::none &&
                 lists(request.fields.combined("connection"), "upgrade") &&
                 lists(request.fields.combined("upgrade"), "websocket");
  return hop;
}

void add_hop_fields(FieldLines& out, const RequestHead& request, const Hop& hop,
                    std::string_view own_via) {
  if (hop.max_forwards) out.add("Max-Forwards", fmt::to_string(*hop.max_forwards));
  out.add_written("Via", [&](std::string& text) {
    request.fields.for_each("via", [&text](std::string_view members) {
      if (!members.empty()) text.append(members).append(", ");
    });
    append_via_member(text, request.minor_version, own_via);
  });
}

}  // namespace ringside::http
