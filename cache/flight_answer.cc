#include "cache/flight_answer.h"

#include "cache/flight_stream.h"
#include "cache/selection.h"
#include "http1/turn.h"

namespace ringside::cache {
namespace {

// A head without a body to come.
Task<void> answer_by_head(RequestState& state, AnswerNotes notes) {
  end_head(state.head, notes);
  state.keep_alive = notes.keep_alive;
  co_await state.write_head();
}

}  // namespace

Task<void> answer_from_flight(RequestState& state, SharedFetch& fetch) {
  const auto answer = fetch.flight().answer();
  const StoredHead& stored = *answer.head;
  const TimePoint now = state.core.core.now();
  AnswerNotes notes = state.notes();
  const Seconds current_age = age(stored.freshness(), now);
  if (current_age > Seconds{0}) notes.age = current_age;

  // Where it is a part, it is the one that was asked for, and nothing else.
  const auto complete_length =
      answer.extent ? answer.extent->complete_length_bytes : answer.length_bytes;
  const auto selection = select(state.inquiry, state.request.fields, stored, complete_length, now);
  StreamWindow window{0, answer.length_bytes};
  std::optional<std::uint64_t> length_bytes = answer.length_bytes;
  if (selection.kind == Selection::Kind::not_modified) {
    begin_not_modified_head(state.head, stored, state.rules());
    co_await answer_by_head(state, notes);
    co_return;
  }
  if (selection.kind == Selection::Kind::unsatisfiable) {
    begin_unsatisfiable_head(state.head, *answer.length_bytes, now);
    notes.length_bytes = 0;
    co_await answer_by_head(state, notes);
    co_return;
  }
  // Several ranges of what is still coming would have to be kept until it is their turn; the whole
  // is an answer, too (RFC 9110 §14.2).
  if (selection.kind == Selection::Kind::parts && selection.spans.size() == 1) {
    const http::ByteSpan span = selection.spans.front();
    const std::uint64_t base = answer.extent ? answer.extent->first_byte : 0;
    window = {span.first - base, span.size()};
    length_bytes = span.size();
    begin_partial_head(state.head, stored, state.rules(),
                       http::content_range_text(span, complete_length), {});
  } else {
    begin_stored_head(state.head, stored, state.rules());
  }
  const auto delivery = http::choose_delivery(state.request.minor_version, length_bytes.has_value(),
                                              notes.keep_alive);
  notes.coding = delivery.coding;
  notes.keep_alive = state.keep_alive = delivery.keep_alive;
  if (stored.status() != 204) notes.length_bytes = length_bytes;
  end_head(state.head, notes);
  FlightStream stream(state, fetch, window, notes.coding);
  co_await stream.run(state.head);
}

}  // namespace ringside::cache
