#include "cache/stored_answer.h"

#include <array>
#include <random>
#include <vector>

#include "cache/parts.h"
#include "cache/selection.h"
#include "http/multipart_ranges.h"

namespace ringside::cache {
namespace {

// From the system's own source: nobody who has seen others can tell the next.
std::uint64_t random_number() {
  std::random_device source;
  return (std::uint64_t{source()} << 32) | source();
}

// The whole body behind `state.head`, without copying it.
Task<void> write_whole(RequestState& state, const Body& body, bool body_follows) {
  if (body_follows) state.body_bytes = body.size_bytes;
  if (body.pieces.size() <= 1) {
    const std::array<std::string_view, 2> buffers{
        view(state.head), view(body_follows && !body.pieces.empty() ? body.pieces.front()->bytes()
                                                                    : std::string_view{})};
    co_await state.write(buffers);
    co_return;
  }
  std::vector<std::string_view> buffers{view(state.head)};
  for (const PiecePointer& piece : body.pieces) {
    if (body_follows) buffers.push_back(view(piece->bytes()));
  }
  co_await state.write(buffers);
}

void add_bytes(std::vector<std::string_view>& buffers, const StoredResponse& stored,
               const http::ByteSpan& span) {
  for (const std::string_view bytes : bytes_of(stored, span)) buffers.push_back(view(bytes));
}

Task<void> answer_whole(RequestState& state, const StoredResponse& stored, AnswerNotes notes) {
  const StoredHead& head = *stored.head;
  const TimePoint now = state.core.core.now();
  begin_stored_head(state.head, head, state.rules());
  if (head.status() != 204) notes.length_bytes = stored.body->size_bytes;
  const Seconds left = time_to_live(head.freshness(), now);
  const bool may_be_repeated =
      state.is_what_is_stored && head.vary().empty() && !head.freshness().no_cache;
  if (may_be_repeated && left > Seconds{0}) notes.near_ttl = left;
  end_head(state.head, notes);
  co_await write_whole(state, *stored.body, state.inquiry.method == "GET");
}

Task<void> answer_part(RequestState& state, const StoredResponse& stored,
                       const http::ByteSpan& span, AnswerNotes notes) {
  begin_partial_head(state.head, *stored.head, state.rules(),
                     http::content_range_text(span, complete_length_bytes(stored)), {});
  notes.length_bytes = state.body_bytes = span.size();
  end_head(state.head, notes);
  std::vector<std::string_view> buffers{view(state.head)};
  add_bytes(buffers, stored, span);
  co_await state.write(buffers);
}

// RFC 9110 §14.6
Task<void> answer_parts(RequestState& state, const StoredResponse& stored,
                        const std::vector<http::ByteSpan>& spans, AnswerNotes notes) {
  const auto type = stored.head->fields().first("content-type").value_or(std::string_view{});
  const auto framed = http::frame_ranges(spans, complete_length_bytes(stored), type,
                                         http::multipart_boundary(random_number()));
  begin_partial_head(state.head, *stored.head, state.rules(), {}, framed.content_type);
  notes.length_bytes = state.body_bytes = framed.length_bytes;
  end_head(state.head, notes);
  std::vector<std::string_view> buffers{view(state.head)};
  for (const auto& part : framed.parts) {
    buffers.push_back(view(part.head));
    add_bytes(buffers, stored, part.span);
  }
  buffers.push_back(view(framed.closing));
  co_await state.write(buffers);
}

}  // namespace

Task<void> answer_stored(RequestState& state, StoredPointer stored) {
  const TimePoint now = state.core.core.now();
  const StoredHead& head = *stored->head;
  state.status.ttl_seconds = time_to_live(head.freshness(), now).count();
  AnswerNotes notes = state.notes();
  notes.age = age(head.freshness(), now);
  state.keep_alive = notes.keep_alive;
  const auto selection =
      select(state.inquiry, state.request.fields, head, complete_length_bytes(*stored), now);
  switch (selection.kind) {
    case Selection::Kind::not_modified:
      begin_not_modified_head(state.head, head, state.rules());
      end_head(state.head, notes);
      co_await state.write_head();
      break;
    case Selection::Kind::whole:
      co_await answer_whole(state, *stored, notes);
      break;
    case Selection::Kind::parts:
      if (selection.spans.size() == 1) {
        co_await answer_part(state, *stored, selection.spans.front(), notes);
      } else {
        co_await answer_parts(state, *stored, selection.spans, notes);
      }
      break;
    case Selection::Kind::unsatisfiable:
      begin_unsatisfiable_head(state.head, complete_length_bytes(*stored), now);
      notes.length_bytes = 0;
      end_head(state.head, notes);
      co_await state.write_head();
      break;
  }
}

}  // namespace ringside::cache
