#include "cache/sliced_answer.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "cache/conditional.h"
#include "cache/flight_answer.h"
#include "cache/flight_stream.h"
#include "cache/forwarded_answer.h"
#include "cache/parts.h"
#include "cache/refresh.h"
#include "cache/selection.h"
#include "cache/serving.h"
#include "cache/shared_fetch.h"
#include "cache/stored_answer.h"
#include "http/turn.h"

namespace ringside::cache {
namespace {

namespace asio = http::asio;
using Way = SharedFetch::Way;

// What the first slice tells of the object.
struct Object {
  std::shared_ptr<const StoredHead> head;
  std::uint64_t length_bytes = 0;
  std::uint64_t first_bytes = 0;  // of it, that are at hand
  std::string tag;                // strong; empty: there is none
};

Object object_of(std::shared_ptr<const StoredHead> head, std::uint64_t length_bytes,
                 std::uint64_t first_bytes) {
  Object object{std::move(head), length_bytes, first_bytes, {}};
  const http::Fields& fields = object.head->fields();
  if (same_strong_validator(fields, fields)) object.tag = *fields.first("etag");
  return object;
}

http::RangeSet only(const http::ByteSpan& span) { return {{{span.first, span.last}}}; }

bool is_beginning(const StoredPointer& stored) noexcept {
  return stored && stored->extent && stored->extent->first_byte == 0;
}

bool has_byte(const StoredPointer& stored, const Object& object, std::uint64_t position) {
  return stored && complete_length_bytes(*stored) == object.length_bytes &&
         covers(*stored, {{position, position}});
}

// Of a stored response that has the first byte of `wanted`: as much of it as it has.
http::ByteSpan part_of(const http::ByteSpan& wanted, const StoredResponse& stored) {
  const std::uint64_t base = stored.extent ? stored.extent->first_byte : 0;
  return {wanted.first, std::min(wanted.last, base + stored.body->size_bytes - 1)};
}

// One request's way through the slices of an object.
class SlicedAnswer {
 public:
  explicit SlicedAnswer(RequestState& state)
      : state_(state), slice_bytes_(state.rules().slice_size_bytes), first_slice_(state.inquiry) {
    first_slice_.ranges = only({0, slice_bytes_ - 1});
  }

  http::Task<void> run() {
    const StoredPointer& known = state_.found.response;
    if (!is_beginning(known)) {
      co_await fetch_first();
      co_return;
    }
    const Freshness& freshness = known->head->freshness();
    const Verdict verdict = judge(&freshness, state_.inquiry.directives, state_.core.core.now());
    if (verdict == Verdict::must_validate) {
      co_await fetch_first();
      co_return;
    }
    if (is_refresh_due(state_, freshness, verdict)) refresh_in_background(state_);
    is_stale_ = verdict != Verdict::fresh;
    first_ = known;
    co_await answer(stored_object());
  }

 private:
  [[nodiscard]] Object stored_object() const {
    return object_of(first_->head, complete_length_bytes(*first_), first_->body->size_bytes);
  }

  http::Task<void> fetch_first() {
    fetch_.emplace(state_.core, *state_.settings, state_.request, first_slice_, state_.found,
                   state_.request.minor_version >= 1 ? &state_.client : nullptr);
    const Way way = co_await fetch_->run(state_.head);
    state_.status.collapsed = !fetch_->led();
    state_.status.forward_status = fetch_->origin_status();
    switch (way) {
      case Way::stream:
        co_await answer_fetched();
        break;
      case Way::stored:
        co_await answer_confirmed();
        break;
      case Way::relay:
        co_await answer_unstorable();
        break;
      case Way::alone:
      case Way::nobody:
        co_await pass_on_alone();
        break;
      case Way::failed: {
        const Error error = fetch_->error();
        co_await state_.refuse(error);
        break;
      }
    }
  }

  http::Task<void> answer_fetched() {
    const auto coming = fetch_->flight().answer();
    state_.status.stored = true;
    state_.own_lines = fetch_->own_lines();
    state_.outcome = fetch_->led() ? metrics::Outcome::miss : metrics::Outcome::collapsed;
    const bool is_slice =
        coming.extent && *coming.length_bytes < coming.extent->complete_length_bytes;
    if (!is_slice) {
      co_await answer_from_flight(state_, *fetch_);
      co_return;
    }
    co_await answer(
        object_of(coming.head, coming.extent->complete_length_bytes, *coming.length_bytes));
  }

  http::Task<void> answer_confirmed() {
    const StoredPointer stored = fetch_->response();
    const bool may_be_stored = fetch_->storability() == Storability::storable;
    state_.own_lines = fetch_->own_lines();
    is_stale_ = fetch_->is_stale();
    is_confirmed_ = true;
    const bool led = fetch_->led();
    fetch_.reset();
    state_.status.stored = led && !is_stale_ && may_be_stored;
    state_.outcome = led ? metrics::Outcome::revalidated : metrics::Outcome::collapsed;
    if (is_stale_) state_.outcome = metrics::Outcome::stale;
    const TimePoint now = state_.core.core.now();
    if (is_enough(*stored, state_.inquiry, state_.request.fields, now)) {
      co_await answer_stored(state_, stored);
    } else if (is_beginning(stored) && may_be_stored) {
      first_ = stored;
      co_await answer(stored_object());
    } else {
      co_await pass_on_alone();
    }
  }

  http::Task<void> answer_unstorable() {
    const int status = fetch_->origin_status();
    // It has not even a first byte: the whole is asked for, which is empty.
    if (status == 416 && first_slice_.ranges) {
      first_slice_.ranges.reset();
      co_await fetch_first();
      co_return;
    }
    // A part that the client did not ask for is no answer to it; all else is, whatever the range.
    if (status == 206) {
      co_await pass_on_alone();
      co_return;
    }
    state_.outcome = metrics::Outcome::miss;
    state_.status.detail = name(fetch_->storability());
    co_await answer_from_exchange(state_, fetch_->exchange());
  }

  // What was fetched is let go first: its place at the origin is for this.
  http::Task<void> pass_on_alone() {
    fetch_.reset();
    state_.status.stored = false;
    state_.own_lines.clear();
    co_await pass_on(state_);
  }

  http::Task<void> answer(Object object) {
    const TimePoint now = state_.core.core.now();
    const auto selection =
        select(state_.inquiry, state_.request.fields, *object.head, object.length_bytes, now);
    const bool has_body =
        selection.kind == Selection::Kind::whole || selection.kind == Selection::Kind::parts;
    http::ByteSpan wanted{0, object.length_bytes - 1};
    if (!selection.spans.empty()) wanted = selection.spans.front();
    const bool is_at_hand = wanted.last < std::min<std::uint64_t>(object.first_bytes, slice_bytes_);
    if (has_body && object.tag.empty() && !is_at_hand) {
      co_await pass_on_alone();
      co_return;
    }
    note_stored(object, wanted);
    begin_head(object, selection.kind, wanted);
    if (!co_await state_.write_head()) co_return;
    if (has_body) co_await write_slices(object, wanted);
  }

  void begin_head(const Object& object, Selection::Kind kind, const http::ByteSpan& wanted) {
    const TimePoint now = state_.core.core.now();
    const StoredHead& head = *object.head;
    AnswerNotes notes = state_.notes();
    const Seconds current_age = age(head.freshness(), now);
    if (!fetch_ || current_age > Seconds{0}) notes.age = current_age;
    state_.keep_alive = notes.keep_alive;
    switch (kind) {
      case Selection::Kind::not_modified:
        begin_not_modified_head(state_.head, head, state_.rules());
        break;
      case Selection::Kind::unsatisfiable:
        begin_unsatisfiable_head(state_.head, object.length_bytes, now);
        notes.length_bytes = 0;
        break;
      case Selection::Kind::whole:
        begin_stored_head(state_.head, head, state_.rules());
        notes.length_bytes = object.length_bytes;
        break;
      case Selection::Kind::parts:
        begin_partial_head(state_.head, head, state_.rules(),
                           http::content_range_text(wanted, object.length_bytes), {});
        notes.length_bytes = wanted.size();
        break;
    }
    end_head(state_.head, notes);
  }

  // Where nobody was asked yet: said of the whole answer is what is true of where it begins, for
  // the head goes out before the rest is looked at.
  void note_stored(const Object& object, const http::ByteSpan& wanted) {
    if (fetch_) return;
    state_.status.ttl_seconds =
        time_to_live(object.head->freshness(), state_.core.core.now()).count();
    if (is_confirmed_) return;
    state_.outcome = metrics::Outcome::miss;
    if (find_stored(object, wanted.first) == nullptr) return;
    state_.status.hit = true;
    state_.status.forward = http::CacheStatus::Forward::none;
    state_.outcome = is_stale_ ? metrics::Outcome::stale : metrics::Outcome::hit;
  }

  // What is stored of the object and has that byte; null: nothing.
  [[nodiscard]] StoredPointer find_stored(const Object& object, std::uint64_t position) const {
    if (has_byte(first_, object, position)) return first_;
    const std::uint64_t index = position / slice_bytes_;
    if (index == 0 || object.tag.empty()) return nullptr;
    auto stored = state_.core.shared.store
                      .find(slice_key(state_.inquiry.key, index, object.tag), state_.request.fields)
                      .response;
    return has_byte(stored, object, position) ? stored : nullptr;
  }

  http::Task<void> write_slices(const Object& object, const http::ByteSpan& wanted) {
    http::ByteSpan left = wanted;
    if (fetch_ && left.first < object.first_bytes) {
      const http::ByteSpan span{left.first, std::min(left.last, object.first_bytes - 1)};
      if (!co_await stream(*fetch_, 0, span)) co_return;
      left.first = span.last + 1;
    }
    fetch_.reset();  // its bytes are held no longer than for the one slice
    while (left.first <= left.last) {
      const std::uint64_t written = co_await write_some(object, left);
      if (written == 0) co_return;
      left.first += written;
    }
  }

  // Writes of `wanted` what one slice has, or more where more is at hand, and returns how much. 0:
  // the client did not get it, and its connection ends.
  http::Task<std::uint64_t> write_some(const Object& object, const http::ByteSpan& wanted) {
    if (const auto stored = find_stored(object, wanted.first)) {
      co_return co_await write_stored(*stored, wanted);
    }
    const std::uint64_t index = wanted.first / slice_bytes_;
    const http::ByteSpan slice{index * slice_bytes_,
                               std::min((index + 1) * slice_bytes_, object.length_bytes) - 1};
    Inquiry inquiry = state_.inquiry;
    inquiry.ranges = only(slice);
    inquiry.entity_tag = object.tag;
    inquiry.directives = {};
    if (index > 0) inquiry.key = slice_key(state_.inquiry.key, index, object.tag);
    const Store::Found nothing;
    std::optional<SharedFetch> fetch;
    fetch.emplace(state_.core, *state_.settings, state_.request, inquiry, nothing, nullptr);
    std::string head;
    const Way way = co_await fetch->run(head);
    if (way == Way::stream) co_return co_await write_coming(object, *fetch, slice, wanted);
    if (way == Way::stored && has_byte(fetch->response(), object, wanted.first)) {
      co_return co_await write_stored(*fetch->response(), wanted);
    }
    const bool is_other = way == Way::relay && fetch->storability() == Storability::status;
    if (is_other && fetch->origin_status() < 500) forget(object);
    const bool is_for_one = way == Way::alone || (way == Way::relay && !is_other);
    fetch.reset();  // its place at the origin is for the next one
    if (is_for_one) {
      const http::ByteSpan span{wanted.first, std::min(wanted.last, slice.last)};
      const auto relayed = co_await relay_span(state_, *object.head, span, http::Coding::as_is, {});
      if (relayed == Relayed::all) co_return span.size();
    }
    state_.cut_off();
    co_return 0;
  }

  http::Task<std::uint64_t> write_coming(const Object& object, SharedFetch& fetch,
                                         const http::ByteSpan& slice,
                                         const http::ByteSpan& wanted) {
    const auto coming = fetch.flight().answer();
    const auto length_bytes =
        coming.extent ? coming.extent->complete_length_bytes : coming.length_bytes;
    if (length_bytes != object.length_bytes) {
      forget(object);
      state_.cut_off();
      co_return 0;
    }
    // An origin that gave the whole instead need not be asked for the other slices.
    const std::uint64_t base = coming.extent ? slice.first : 0;
    const std::uint64_t last = coming.extent ? slice.last : wanted.last;
    const http::ByteSpan span{wanted.first, std::min(wanted.last, last)};
    const bool written = co_await stream(fetch, base, span);
    co_return written ? span.size() : 0;
  }

  // What is stored is not what the origin has: the next request asks it anew.
  void forget(const Object& object) {
    Store& store = state_.core.shared.store;
    const auto stored = store.find(state_.inquiry.key, state_.request.fields).response;
    if (stored && stored->head->fields().first("etag") == std::string_view(object.tag)) {
      store.erase(state_.inquiry.key);
    }
  }

  // `base`: where in the object the flight's bytes begin.
  http::Task<bool> stream(SharedFetch& fetch, std::uint64_t base, const http::ByteSpan& span) {
    const StreamWindow window{span.first - base, span.size()};
    FlightStream stream(state_, fetch, window, http::Coding::as_is);
    co_return co_await stream.run({});
  }

  http::Task<std::uint64_t> write_stored(const StoredResponse& stored,
                                         const http::ByteSpan& wanted) {
    const http::ByteSpan span = part_of(wanted, stored);
    std::vector<asio::const_buffer> buffers;
    for (const std::string_view bytes : bytes_of(stored, span)) buffers.push_back(view(bytes));
    state_.body_bytes += span.size();
    const bool written = co_await state_.write(buffers);
    co_return written ? span.size() : 0;
  }

  RequestState& state_;
  const std::uint64_t slice_bytes_;
  Inquiry first_slice_;               // what the first slice is asked for by
  StoredPointer first_;               // the first slice, where it is stored
  std::optional<SharedFetch> fetch_;  // that brings it, where it is not
  bool is_stale_ = false;
  bool is_confirmed_ = false;  // by the origin, or it could not be asked
};

}  // namespace

http::Task<void> answer_sliced(RequestState& state) {
  SlicedAnswer answer(state);
  co_await answer.run();
}

}  // namespace ringside::cache
