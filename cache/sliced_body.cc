#include "cache/sliced_body.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "cache/fetch.h"
#include "cache/flight_body.h"
#include "cache/origin.h"
#include "cache/parts.h"

namespace ringside::cache {
namespace {

using From = Fetch::From;

Error broken_off() {
  return {ErrorKind::disconnected, ErrorSource::origin, Retry::no,
          "a slice of the object can't be fetched"};
}

}  // namespace

http::RangeSet only(const http::ByteSpan& span) { return {{{span.first, span.last}}}; }

http::RequestHead without_conditions(const http::RequestHead& request) {
  http::RequestHead bare = request;
  for (const auto name : {"if-none-match", "if-modified-since", "if-range"}) {
    bare.fields.remove(name);
  }
  return bare;
}

StoredPointer find_stored_slice(const Transaction& transaction, const StoredPointer& first,
                                const SlicedObject& object, std::uint64_t position) {
  if (has_byte(first, object, position)) return first;
  return find_slice(transaction, object, position);
}

SlicedBody::SlicedBody(Transaction& transaction, SlicedObject object, http::ByteSpan wanted,
                       StoredPointer first, std::optional<ComingSlice> coming)
    : transaction_(transaction),
      request_(without_conditions(*transaction.request)),
      object_(std::move(object)),
      first_(std::move(first)),
      coming_(std::move(coming)),
      left_(wanted) {}

StoredPointer SlicedBody::find_stored() const {
  return find_stored_slice(transaction_, first_, object_, left_.first);
}

void SlicedBody::begin_stored(const StoredPointer& stored) {
  part_.emplace(
      Part{http::Body(stored, bytes_of(*stored, part_of(left_, *stored))), false, stored});
}

// `slice`: what the flight was asked for.
bool SlicedBody::begin_coming(ComingSlice coming, const http::ByteSpan& slice) {
  // An origin that gave the whole instead need not be asked for the other slices.
  const std::uint64_t base = coming.answer.extent ? slice.first : 0;
  const std::uint64_t last = coming.answer.extent ? slice.last : left_.last;
  const http::ByteSpan span{left_.first, std::min(left_.last, last)};
  const Window window{span.first - base, span.size()};
  part_.emplace(Part{http::Body(std::make_unique<FlightBody>(transaction_, std::move(coming.reader),
                                                             std::move(coming.answer), window))});
  return true;
}

// What need not be waited for.
bool SlicedBody::begin_at_hand() {
  auto coming = std::exchange(coming_, std::nullopt);  // its bytes are held no longer than needed
  if (coming && left_.first < object_.first_bytes) {
    return begin_coming(*std::move(coming), {0, object_.first_bytes - 1});
  }
  const auto stored = find_stored();
  if (stored) begin_stored(stored);
  return stored != nullptr;
}

Task<bool> SlicedBody::begin_fetched() {
  const std::uint64_t slice_bytes = transaction_.rules().slice_size_bytes;
  const std::uint64_t index = left_.first / slice_bytes;
  const http::ByteSpan slice = slice_at(object_, left_.first, slice_bytes);
  RequestContext context = transaction_.context;
  context.ranges = only(slice);
  context.entity_tag = object_.tag;
  context.directives = {};
  if (index > 0) context.key = slice_key(transaction_.context.key, index, object_.tag);
  const Store::Found nothing;
  std::optional<Fetch> fetch;  // its place at the origin is for the next one when it ends
  fetch.emplace(transaction_.core, *transaction_.settings, request_, context, nothing, nullptr);
  const From from = co_await fetch->run();
  if (from == From::flight) {
    auto answer = fetch->answer();
    const auto length_bytes =
        answer.extent ? answer.extent->complete_length_bytes : answer.length_bytes;
    if (length_bytes != object_.length_bytes || !object_.is_of(*answer.head)) {
      forget_object();
      co_return false;
    }
    co_return begin_coming({fetch->take_reader(), std::move(answer)}, slice);
  }
  if (from == From::store && has_byte(fetch->response(), object_, left_.first)) {
    begin_stored(fetch->response());
    co_return true;
  }
  const bool is_other = from == From::exchange && fetch->storability() == Storability::status;
  if (is_other && fetch->origin_status() < 500) forget_object();
  const bool is_for_one = from == From::elsewhere || (from == From::exchange && !is_other);
  fetch.reset();
  if (!is_for_one) co_return false;
  co_return co_await begin_alone(slice);
}

Task<bool> SlicedBody::begin_alone(http::ByteSpan slice) {
  const http::ByteSpan span{left_.first, std::min(left_.last, slice.last)};
  auto exchange = co_await ask_for_span(transaction_, *object_.head, span);
  if (!exchange) co_return false;
  part_.emplace(Part{http::Body(std::move(exchange)), true});
  co_return true;
}

// What is stored is not what the origin has: the next request asks it anew.
void SlicedBody::forget_object() {
  Store& store = transaction_.core.shared.store;
  const CacheKey& key = transaction_.context.key;
  const auto stored = store.find(key, transaction_.request->fields).response;
  if (stored && object_.is_of(*stored->head)) store.erase(key, stored);
}

Result<http::Pulled> SlicedBody::given(Result<http::Pulled> pulled) {
  if (!pulled) {
    if (part_->is_exchange) transaction_.core.sheet.count_error(pulled.error());
    return pulled;
  }
  std::uint64_t bytes = 0;
  for (const std::string_view piece : pulled->pieces) bytes += piece.size();
  part_has_ended_ = pulled->last;
  if (part_has_ended_ && bytes == 0) return broken_off();
  left_.first += bytes;
  return http::Pulled{pulled->pieces, left_.first > left_.last};
}

std::optional<Result<http::Pulled>> SlicedBody::take() {
  if (part_has_ended_) part_.reset();
  part_has_ended_ = false;
  if (!part_ && !begin_at_hand()) return std::nullopt;
  auto pulled = part_->body.take();
  if (!pulled) return std::nullopt;
  return given(*std::move(pulled));
}

std::size_t SlicedBody::pinned_bytes() const {
  std::size_t bytes = first_ ? cache::pinned_bytes(first_->body->pieces) : 0;
  if (part_ && part_->stored != first_ && part_->stored) {
    bytes += cache::pinned_bytes(part_->stored->body->pieces);
  }
  return part_ ? bytes + part_->body.pinned_bytes() : bytes;
}

Task<Result<http::Pulled>> SlicedBody::pull() {
  if (auto at_hand = take()) co_return *std::move(at_hand);
  if (!part_) {
    const bool begun = co_await begin_fetched();
    if (!begun) co_return broken_off();
  }
  co_return given(co_await part_->body.pull());
}

}  // namespace ringside::cache
