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
#include "cache/sliced_object.h"
#include "cache/stored_answer.h"
#include "http1/turn.h"

namespace ringside::cache {
namespace {

using Way = SharedFetch::Way;

http::RangeSet only(const http::ByteSpan& span) { return {{{span.first, span.last}}}; }

// The request as slices are fetched for it: its conditions are about the whole.
http::RequestHead without_conditions(const http::RequestHead& request) {
  http::RequestHead bare = request;
  for (const auto name : {"if-none-match", "if-modified-since", "if-range"}) {
    bare.fields.remove(name);
  }
  return bare;
}

// Under which it is remembered that what those get who say who they are may not be stored (RFC 9111
// §3.5). No slice stands there: tags are quoted.
CacheKey authorized_key(const CacheKey& object) { return slice_key(object, 0, "authorized"); }

// One request's way through the slices of an object.
class SlicedAnswer {
 public:
  explicit SlicedAnswer(RequestState& state)
      : state_(state),
        slice_bytes_(state.rules().slice_size_bytes),
        request_(without_conditions(state.request)),
        first_slice_(state.inquiry) {
    first_slice_.ranges = only({0, slice_bytes_ - 1});
  }

  // See answer_sliced.
  Task<bool> run() {
    const StoredPointer& known = state_.found.response;
    if (is_untagged(known)) co_return false;
    if (is_beginning(known)) {
      const Freshness& freshness = known->head->freshness();
      const Verdict verdict = judge(&freshness, state_.inquiry.directives, state_.core.core.now());
      if (verdict != Verdict::must_validate) {
        if (is_refresh_due(state_, freshness, verdict)) refresh_in_background(state_);
        is_stale_ = verdict != Verdict::fresh;
        first_ = known;
        co_return co_await answer(object_of(*first_));
      }
    }
    if (was_in_vain()) co_return false;
    co_return co_await fetch_first();
  }

 private:
  // A first slice was fetched for such a request of late, and could not be stored.
  [[nodiscard]] bool was_in_vain() const {
    UncacheableKeys& uncacheable = state_.core.shared.uncacheable;
    const SteadyPoint now = state_.core.core.steady_now();
    const CacheKey& key = state_.inquiry.key;
    return uncacheable.contains(key, now) ||
           (state_.inquiry.authorized && uncacheable.contains(authorized_key(key), now));
  }

  Task<bool> fetch_first() {
    fetch_.emplace(state_.core, *state_.settings, request_, first_slice_, state_.found,
                   state_.request.minor_version >= 1 ? &state_.client : nullptr);
    const Way way = co_await fetch_->run(state_.head);
    state_.status.collapsed = !fetch_->led();
    state_.status.forward_status = fetch_->origin_status();
    state_.own_lines = fetch_->own_lines();
    state_.is_what_is_stored =
        state_.own_lines.empty() && fetch_->storability() == Storability::storable;
    switch (way) {
      case Way::stream:
        co_return co_await answer_fetched();
      case Way::stored:
        co_return co_await answer_confirmed();
      case Way::relay:
        co_return co_await answer_unstorable();
      case Way::alone:
      case Way::nobody:
        fetch_.reset();
        co_await pass_on(state_);
        break;
      case Way::failed: {
        const Error error = fetch_->error();
        co_await state_.refuse(error);
        break;
      }
    }
    co_return true;
  }

  Task<bool> answer_fetched() {
    const auto coming = fetch_->flight().answer();
    state_.status.stored = coming.is_kept;
    state_.outcome = fetch_->led() ? metrics::Outcome::miss : metrics::Outcome::collapsed;
    const bool is_slice =
        coming.extent && *coming.length_bytes < coming.extent->complete_length_bytes;
    if (!is_slice) {
      co_await answer_from_flight(state_, *fetch_);
      co_return true;
    }
    co_return co_await answer(
        object_of(coming.head, coming.extent->complete_length_bytes, *coming.length_bytes));
  }

  Task<bool> answer_confirmed() {
    const StoredPointer stored = fetch_->response();
    const bool may_be_stored = fetch_->storability() == Storability::storable;
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
      co_return true;
    }
    if (!is_beginning(stored) || !may_be_stored) co_return give_up();
    first_ = stored;
    co_return co_await answer(object_of(*first_));
  }

  Task<bool> answer_unstorable() {
    const int status = fetch_->origin_status();
    // It has not even a first byte: the whole is asked for, which is empty.
    if (status == 416 && first_slice_.ranges) {
      first_slice_.ranges.reset();
      co_return co_await fetch_first();
    }
    // A part that the client did not ask for is no answer to it; all else is, whatever the range.
    if (status == 206) {
      if (fetch_->storability() == Storability::authorization) {
        state_.core.shared.uncacheable.remember(
            authorized_key(state_.inquiry.key),
            state_.core.core.steady_now() + limits::uncacheable_ttl);
      }
      co_return give_up();
    }
    state_.outcome = metrics::Outcome::miss;
    state_.status.detail = name(fetch_->storability());
    co_await answer_from_exchange(state_, fetch_->exchange());
    co_return true;
  }

  // What was fetched is let go: its place at the origin is for what follows.
  bool give_up() {
    fetch_.reset();
    state_.status.stored = false;
    state_.own_lines.clear();
    state_.found = state_.core.shared.store.find(state_.inquiry.key, state_.request.fields);
    return false;
  }

  Task<bool> answer(SlicedObject object) {
    const TimePoint now = state_.core.core.now();
    const auto selection =
        select(state_.inquiry, state_.request.fields, *object.head, object.length_bytes, now);
    const bool has_body =
        selection.kind == Selection::Kind::whole || selection.kind == Selection::Kind::parts;
    const http::ByteSpan wanted = wanted_of(selection, object);
    const bool is_at_hand = wanted.last < std::min<std::uint64_t>(object.first_bytes, slice_bytes_);
    if (has_body && object.tag.empty() && !is_at_hand) co_return give_up();
    note_stored(object, wanted);
    begin_head(object, selection.kind, wanted);
    if (!co_await state_.write_head()) co_return true;
    if (has_body) co_await write_slices(object, wanted);
    co_return true;
  }

  void begin_head(const SlicedObject& object, Selection::Kind kind, const http::ByteSpan& wanted) {
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
  void note_stored(const SlicedObject& object, const http::ByteSpan& wanted) {
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
  [[nodiscard]] StoredPointer find_stored(const SlicedObject& object,
                                          std::uint64_t position) const {
    if (has_byte(first_, object, position)) return first_;
    return find_slice(state_, object, position);
  }

  Task<void> write_slices(const SlicedObject& object, const http::ByteSpan& wanted) {
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
  Task<std::uint64_t> write_some(const SlicedObject& object, const http::ByteSpan& wanted) {
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
    fetch.emplace(state_.core, *state_.settings, request_, inquiry, nothing, nullptr);
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

  Task<std::uint64_t> write_coming(const SlicedObject& object, SharedFetch& fetch,
                                   const http::ByteSpan& slice, const http::ByteSpan& wanted) {
    const auto coming = fetch.flight().answer();
    const auto length_bytes =
        coming.extent ? coming.extent->complete_length_bytes : coming.length_bytes;
    if (length_bytes != object.length_bytes || !object.is_of(*coming.head)) {
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
  void forget(const SlicedObject& object) {
    Store& store = state_.core.shared.store;
    const auto stored = store.find(state_.inquiry.key, state_.request.fields).response;
    if (stored && object.is_of(*stored->head)) store.erase(state_.inquiry.key, stored);
  }

  // `base`: where in the object the flight's bytes begin.
  Task<bool> stream(SharedFetch& fetch, std::uint64_t base, const http::ByteSpan& span) {
    const StreamWindow window{span.first - base, span.size()};
    FlightStream stream(state_, fetch, window, http::Coding::as_is);
    co_return co_await stream.run({});
  }

  Task<std::uint64_t> write_stored(const StoredResponse& stored, const http::ByteSpan& wanted) {
    const http::ByteSpan span = part_of(wanted, stored);
    std::vector<std::string_view> buffers;
    for (const std::string_view bytes : bytes_of(stored, span)) buffers.push_back(view(bytes));
    state_.body_bytes += span.size();
    const bool written = co_await state_.write(buffers);
    co_return written ? span.size() : 0;
  }

  RequestState& state_;
  const std::uint64_t slice_bytes_;
  const http::RequestHead request_;   // what slices are fetched with
  Inquiry first_slice_;               // what the first slice is asked for by
  StoredPointer first_;               // the first slice, where it is stored
  std::optional<SharedFetch> fetch_;  // that brings it, where it is not
  bool is_stale_ = false;
  bool is_confirmed_ = false;  // by the origin, or it could not be asked
};

}  // namespace

Task<bool> answer_sliced(RequestState& state) {
  {
    SlicedAnswer answer(state);
    if (co_await answer.run()) co_return true;
  }
  const bool is_origins_to_decide = state.inquiry.ranges && state.request.fields.has("if-range");
  if (is_origins_to_decide) co_await pass_on(state);
  co_return is_origins_to_decide;
}

}  // namespace ringside::cache
