#include "cache/representation.h"

#include <random>
#include <utility>
#include <vector>

#include "cache/parts.h"
#include "http/multipart_ranges.h"

namespace ringside::cache {
namespace {

// From the system's own source: nobody who has seen others can tell the next.
std::uint64_t random_number() {
  std::random_device source;
  return (std::uint64_t{source()} << 32) | source();
}

http::Body whole_body(const StoredPointer& stored) {
  const auto& pieces = stored->body->pieces;
  if (pieces.empty()) return {};
  if (pieces.size() == 1) return {stored, pieces.front()->bytes()};
  std::vector<std::string_view> views;
  views.reserve(pieces.size());
  for (const PiecePointer& piece : pieces) views.push_back(piece->bytes());
  return {stored, std::move(views)};
}

// RFC 9110 §14.6
struct Multipart {
  StoredPointer stored;
  http::MultipartRanges framed;
};

http::Body multipart_body(std::shared_ptr<const Multipart> multipart) {
  std::vector<std::string_view> views;
  for (const auto& part : multipart->framed.parts) {
    views.emplace_back(part.head);
    const auto bytes = bytes_of(*multipart->stored, part.span);
    views.insert(views.end(), bytes.begin(), bytes.end());
  }
  views.emplace_back(multipart->framed.closing);
  return {std::move(multipart), std::move(views)};
}

void give_multipart(const Transaction& transaction, const StoredPointer& stored,
                    const std::vector<http::ByteSpan>& spans, ResponseNotes notes,
                    http::Response& response) {
  const auto type = stored->head->fields().first("content-type").value_or(std::string_view{});
  auto framed = http::frame_ranges(spans, complete_length_bytes(*stored), type,
                                   http::multipart_boundary(random_number()));
  begin_partial(response, *stored->head, transaction.response_rules(), {}, framed.content_type);
  notes.length_bytes = framed.length_bytes;
  end_response(response, notes);
  response.body =
      multipart_body(std::make_shared<const Multipart>(Multipart{stored, std::move(framed)}));
}

// A near cache can only follow the Vary that it is shown.
bool shows_what_it_varies_on(const StoredHead& head, const Rules& rules) {
  return head.vary().empty() || (head.shows_vary() && !rules.response_fields.replaces("vary"));
}

// For how long a near cache may give it again.
std::optional<Milliseconds> near_ttl(const Transaction& transaction, const StoredHead& head) {
  const Seconds left = time_to_live(head.freshness(), transaction.resident_now());
  const bool may_be_repeated = transaction.is_what_is_stored && !head.freshness().no_cache &&
                               shows_what_it_varies_on(head, transaction.rules());
  if (!may_be_repeated || left <= Seconds{0}) return std::nullopt;
  return left;
}

}  // namespace

Selection begin_response(const Transaction& transaction, const Representation& representation,
                         ResponseNotes notes, http::Response& response) {
  const StoredHead& head = *representation.head;
  const auto complete = representation.complete_length_bytes;
  auto selection = select(transaction.context, transaction.request->fields, head, complete,
                          transaction.resident_now());
  const bool is_multipart = selection.kind == Selection::Kind::parts && selection.spans.size() > 1;
  if (is_multipart && representation.may_be_multipart) return selection;
  if (is_multipart) selection = {};
  switch (selection.kind) {
    case Selection::Kind::not_modified:
      begin_not_modified(response, head, transaction.response_rules());
      notes.near_ttl.reset();
      break;
    case Selection::Kind::unsatisfiable:
      begin_unsatisfiable(response, complete.value_or(0), transaction.now());
      notes.length_bytes = 0;
      notes.near_ttl.reset();
      break;
    case Selection::Kind::parts:
      begin_partial(response, head, transaction.response_rules(),
                    http::content_range_text(selection.spans.front(), complete), {});
      notes.length_bytes = selection.spans.front().size();
      notes.near_ttl.reset();
      break;
    case Selection::Kind::whole:
      begin_stored(response, representation.head, transaction.response_rules());
      response.length_is_known = representation.length_bytes.has_value();
      if (head.status() != 204) notes.length_bytes = representation.length_bytes;
      break;
  }
  end_response(response, notes);
  return selection;
}

void give_stored(Transaction& transaction, const StoredPointer& stored, http::Response& response) {
  const StoredHead& head = *stored->head;
  transaction.given = stored;
  transaction.status.ttl_seconds =
      time_to_live(head.freshness(), transaction.resident_now()).count();
  ResponseNotes notes = transaction.notes();
  notes.age = age(head.freshness(), transaction.resident_now());
  notes.age_beyond = age_beyond(head.freshness(), transaction.resident_now());
  notes.near_ttl = near_ttl(transaction, head);
  const Representation representation{stored->head, complete_length_bytes(*stored),
                                      stored->body->size_bytes, true};
  const auto selection = begin_response(transaction, representation, notes, response);
  if (selection.kind == Selection::Kind::whole) {
    response.body = whole_body(stored);
  } else if (selection.spans.size() == 1) {
    response.body = {stored, bytes_of(*stored, selection.spans.front())};
  } else if (selection.spans.size() > 1) {
    notes.near_ttl.reset();
    give_multipart(transaction, stored, selection.spans, notes, response);
  }
}

}  // namespace ringside::cache
