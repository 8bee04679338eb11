#include "cache/slices.h"

#include <algorithm>
#include <optional>

#include "base/limits.h"
#include "cache/fetch.h"
#include "cache/flight_body.h"
#include "cache/pass.h"
#include "cache/refresh.h"
#include "cache/representation.h"
#include "cache/sliced_body.h"

namespace ringside::cache {
namespace {

using From = Fetch::From;

// Under which it is remembered that what those get who say who they are may not be stored (RFC 9111
// §3.5). No slice stands there: tags are quoted.
CacheKey authorized_key(const CacheKey& object) { return slice_key(object, 0, "authorized"); }

// A first slice was fetched for such a request of late, and could not be stored.
bool was_in_vain(const Transaction& transaction) {
  UncacheableKeys& uncacheable = transaction.core.shared.uncacheable;
  const SteadyPoint now = transaction.core.core.steady_now();
  const CacheKey& key = transaction.context.key;
  return uncacheable.contains(key, now) ||
         (transaction.context.authorized && uncacheable.contains(authorized_key(key), now));
}

// How one request is given slices of an object.
class Slices {
 public:
  Slices(Transaction& transaction, http::Response& response)
      : transaction_(transaction),
        response_(response),
        slice_bytes_(transaction.rules().slice_size_bytes),
        request_(without_conditions(*transaction.request)),
        first_slice_(transaction.context) {
    first_slice_.ranges = only({0, slice_bytes_ - 1});
  }

  // See give_slices.
  Task<bool> run() {
    const StoredPointer& known = transaction_.found.response;
    if (is_untagged(known)) co_return false;
    if (is_beginning(known)) {
      const Freshness& freshness = known->head->freshness();
      const TimePoint now = transaction_.resident_now();
      const RequestContext& context = transaction_.context;
      const Verdict verdict = judge(&freshness, context.directives, now);
      if (verdict != Verdict::must_validate) {
        if (is_refresh_due(context, freshness, verdict, now)) refresh_in_background(transaction_);
        is_stale_ = verdict != Verdict::fresh;
        first_ = known;
        co_return give(object_of(*first_));
      }
    }
    if (was_in_vain(transaction_)) co_return false;
    co_return co_await fetch_first();
  }

 private:
  Task<bool> fetch_first() {
    fetch_.emplace(transaction_.core, *transaction_.settings, request_, first_slice_,
                   transaction_.found, transaction_.interim_to());
    const From from = co_await fetch_->run();
    note_fetch(transaction_, *fetch_);
    switch (from) {
      case From::flight:
        co_return give_fetched();
      case From::store:
        co_return give_confirmed();
      case From::exchange:
        co_return co_await give_unstorable();
      case From::elsewhere:
      case From::nobody:
        fetch_.reset();
        co_await pass_on(transaction_, response_);
        break;
      case From::failed:
        transaction_.refuse(fetch_->error(), response_);
        break;
    }
    co_return true;
  }

  bool give_fetched() {
    const auto answer = fetch_->answer();
    transaction_.status.stored = answer.is_kept;
    transaction_.outcome = fetch_->led() ? metrics::Outcome::miss : metrics::Outcome::collapsed;
    const bool is_slice =
        answer.extent && *answer.length_bytes < answer.extent->complete_length_bytes;
    if (is_slice) {
      return give(
          object_of(answer.head, answer.extent->complete_length_bytes, *answer.length_bytes));
    }
    give_flight(transaction_, fetch_->take_reader(), answer, response_);
    return true;
  }

  bool give_confirmed() {
    const StoredPointer stored = fetch_->response();
    const bool may_be_stored = fetch_->storability() == Storability::storable;
    is_stale_ = fetch_->is_stale();
    is_confirmed_ = true;
    const bool led = fetch_->led();
    fetch_.reset();
    transaction_.status.stored = led && !is_stale_ && may_be_stored;
    transaction_.outcome = led ? metrics::Outcome::revalidated : metrics::Outcome::collapsed;
    if (is_stale_) transaction_.note_stale();
    if (is_enough(*stored, transaction_.context, transaction_.request->fields,
                  transaction_.resident_now())) {
      give_stored(transaction_, stored, response_);
      return true;
    }
    if (!is_beginning(stored) || !may_be_stored) return give_up();
    first_ = stored;
    return give(object_of(*first_));
  }

  Task<bool> give_unstorable() {
    const int status = fetch_->origin_status();
    // It has not even a first byte: the whole is asked for, which is empty.
    if (status == 416 && first_slice_.ranges) {
      first_slice_.ranges.reset();
      co_return co_await fetch_first();
    }
    // A part that the client did not ask for is no answer to it; all else is, whatever the range.
    if (status == 206) {
      if (fetch_->storability() == Storability::authorization) {
        transaction_.core.shared.uncacheable.remember(
            authorized_key(transaction_.context.key),
            transaction_.core.core.steady_now() + limits::uncacheable_ttl);
      }
      co_return give_up();
    }
    transaction_.outcome = metrics::Outcome::miss;
    transaction_.status.detail = name(fetch_->storability());
    give_exchange(transaction_, fetch_->take_exchange(), response_);
    co_return true;
  }

  // What was fetched is let go: its place at the origin is for what follows.
  bool give_up() {
    fetch_.reset();
    transaction_.status.stored = false;
    transaction_.own_lines.clear();
    transaction_.found =
        transaction_.core.shared.store.find(transaction_.context.key, transaction_.request->fields);
    return false;
  }

  bool give(SlicedObject object) {
    const auto selection = select(transaction_.context, transaction_.request->fields, *object.head,
                                  object.length_bytes, transaction_.resident_now());
    const bool has_body =
        selection.kind == Selection::Kind::whole || selection.kind == Selection::Kind::parts;
    const http::ByteSpan wanted = wanted_of(selection, object);
    const bool is_at_hand = wanted.last < std::min<std::uint64_t>(object.first_bytes, slice_bytes_);
    if (has_body && object.tag.empty() && !is_at_hand) return give_up();
    note_stored(object, wanted);
    ResponseNotes notes = transaction_.notes();
    const Seconds current_age = age(object.head->freshness(), transaction_.resident_now());
    const bool was_stored = !fetch_ || fetch_->answer().was_stored;
    if (was_stored || current_age > Seconds{0}) notes.age = current_age;
    const Representation representation{object.head, object.length_bytes, object.length_bytes};
    begin_response(transaction_, representation, notes, response_);
    if (!has_body) return true;
    std::optional<ComingSlice> coming;
    if (fetch_) coming.emplace(ComingSlice{fetch_->take_reader(), fetch_->answer()});
    response_.body = http::Body(std::make_unique<SlicedBody>(transaction_, std::move(object),
                                                             wanted, first_, std::move(coming)));
    return true;
  }

  // Where nobody was asked yet: said of the whole answer is what is true of where it begins, for
  // the head goes out before the rest is looked at.
  void note_stored(const SlicedObject& object, const http::ByteSpan& wanted) {
    if (fetch_) return;
    transaction_.status.ttl_seconds =
        time_to_live(object.head->freshness(), transaction_.resident_now()).count();
    if (is_confirmed_) return;
    transaction_.outcome = metrics::Outcome::miss;
    if (find_stored_slice(transaction_, first_, object, wanted.first) == nullptr) return;
    transaction_.status.hit = true;
    transaction_.status.forward = http::CacheStatus::Forward::none;
    transaction_.outcome = is_stale_ ? metrics::Outcome::stale : metrics::Outcome::hit;
  }

  Transaction& transaction_;
  http::Response& response_;
  const std::uint64_t slice_bytes_;
  const http::RequestHead request_;  // what slices are fetched with
  RequestContext first_slice_;       // what the first slice is asked for by
  StoredPointer first_;              // the first slice, where it is stored
  std::optional<Fetch> fetch_;       // that brings it, where it is not
  bool is_stale_ = false;
  bool is_confirmed_ = false;  // by the origin, or it could not be asked
};

bool is_origins_to_decide(const Transaction& transaction) {
  return transaction.context.ranges && transaction.request->fields.has("if-range");
}

}  // namespace

Task<bool> give_slices(Transaction& transaction, http::Response& response) {
  {
    Slices slices(transaction, response);
    if (co_await slices.run()) co_return true;
  }
  const bool is_origins = is_origins_to_decide(transaction);
  if (is_origins) co_await pass_on(transaction, response);
  co_return is_origins;
}

WithoutSlices without_slices(const Transaction& transaction) {
  const bool asks = !is_untagged(transaction.found.response) && !was_in_vain(transaction);
  if (asks) return WithoutSlices::no;
  return is_origins_to_decide(transaction) ? WithoutSlices::passed_on : WithoutSlices::whole;
}

}  // namespace ringside::cache
