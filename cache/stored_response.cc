#include "cache/stored_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "http/date.h"

namespace ringside::cache {
namespace {

bool is_left_out(std::string_view name) noexcept {
  using http::same_token;
  return http::is_internal(name) || same_token(name, "age") || same_token(name, "content-length");
}

// What a 304 may not change of the stored response (RFC 9111 §3.2): what describes the bytes that
// we keep, above all how they are coded and what their digest is.
bool is_kept_from_304(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> kept = {
      "content-encoding", "content-range", "content-length", "content-md5",
      "content-digest",   "repr-digest",   "digest"};
  return std::any_of(kept.begin(), kept.end(),
                     [&](std::string_view kept_name) { return http::same_token(kept_name, name); });
}

}  // namespace

StoredHead::StoredHead(int status, const Freshness& freshness, std::vector<std::string> vary,
                       std::string variant)
    : status_(status),
      freshness_(freshness),
      vary_(std::move(vary)),
      variant_(std::move(variant)) {}

StoredHead::StoredHead(const http::ResponseHead& response, const Freshness& freshness,
                       std::string_view via_name, std::vector<std::string> vary,
                       std::string variant)
    : StoredHead(response.status, freshness, std::move(vary), std::move(variant)) {
  begin(response.reason);
  const auto connection = response.fields.combined("connection").value_or(std::string{});
  for (const http::Field& field : response.fields) {
    if (is_left_out(field.name) || http::is_hop_by_hop(field.name, connection)) continue;
    append(field.name, field.value);
  }
  append("Via", fmt::format("1.{} {}", response.minor_version, via_name));
  if (!response.fields.has("date")) append_date(freshness.received);
  index();
}

std::shared_ptr<const StoredHead> StoredHead::updated(const StoredHead& stored,
                                                      const http::Fields& fields,
                                                      const ExchangeTimes& times) {
  const std::shared_ptr<StoredHead> head(
      new StoredHead(stored.status_, {}, stored.vary_, stored.variant_));
  const auto line_end = stored.text_.find("\r\n");
  head->text_ = stored.text_.substr(0, line_end + 2);
  const auto connection = fields.combined("connection").value_or(std::string{});
  const auto replaces = [&](std::string_view name) {
    return !is_left_out(name) && !is_kept_from_304(name) && !http::same_token(name, "via") &&
           !http::is_hop_by_hop(name, connection);
  };
  for (const http::Field& field : stored.fields_) {
    // A Date of before would make the response as old as it was.
    const bool replaced = fields.has(field.name) || http::same_token(field.name, "date");
    if (!(replaces(field.name) && replaced)) head->append(field.name, field.value);
  }
  for (const http::Field& field : fields) {
    if (replaces(field.name)) head->append(field.name, field.value);
  }
  if (!fields.has("date")) head->append_date(times.received);
  head->index();

  http::Fields now_said = head->fields_;
  if (const auto age = fields.first("age")) now_said.add("Age", *age);
  head->freshness_ = freshness_of(now_said, http::parse_response_directives(now_said), times);
  return head;
}

void StoredHead::begin(std::string_view reason) {
  text_ = fmt::format("HTTP/1.1 {} {}\r\n", status_, reason);
}

void StoredHead::append(std::string_view name, std::string_view value) {
  text_.append(name).append(": ").append(value).append("\r\n");
}

void StoredHead::append_date(TimePoint received) {
  const auto date = http::format_date(received);
  append("Date", {date.data(), date.size()});
}

// Our own lines, written by append: name, ": ", value.
void StoredHead::index() {
  text_.shrink_to_fit();
  std::string_view rest = text_;
  rest.remove_prefix(rest.find("\r\n") + 2);
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(line.size() + 2);
    const auto colon = line.find(':');
    fields_.add(line.substr(0, colon), line.substr(colon + 2));
  }
}

std::size_t StoredHead::cost_bytes() const noexcept {
  std::size_t bytes = sizeof(StoredHead) + text_.capacity() + variant_.capacity() +
                      fields_.size() * 2 * sizeof(http::Field) + 64;
  for (const std::string& name : vary_) bytes += sizeof(std::string) + name.capacity();
  return bytes;
}

std::size_t StoredResponse::cost_bytes() const noexcept {
  std::size_t bytes = sizeof(StoredResponse) + sizeof(Body) + 64 + head->cost_bytes();
  for (const PiecePointer& piece : body->pieces) bytes += piece_cost_bytes(piece->bytes().size());
  return bytes;
}

}  // namespace ringside::cache
