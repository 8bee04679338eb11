#include "cache/sliced_object.h"

#include <algorithm>
#include <utility>

#include "cache/parts.h"
#include "cache/serving.h"
#include "http/conditional.h"

namespace ringside::cache {

bool SlicedObject::is_of(const StoredHead& other) const {
  return &other == head.get() || http::same_strong_validator(head->fields(), other.fields());
}

SlicedObject object_of(std::shared_ptr<const StoredHead> head, std::uint64_t length_bytes,
                       std::uint64_t first_bytes) {
  SlicedObject object{std::move(head), length_bytes, first_bytes, {}};
  const http::Fields& fields = object.head->fields();
  if (http::same_strong_validator(fields, fields)) object.tag = *fields.first("etag");
  return object;
}

SlicedObject object_of(const StoredResponse& first) {
  return object_of(first.head, complete_length_bytes(first), first.body->size_bytes);
}

bool is_untagged(const StoredPointer& stored) {
  if (!stored || stored->head->status() != 200) return false;
  const http::Fields& fields = stored->head->fields();
  return !http::same_strong_validator(fields, fields);
}

bool is_beginning(const StoredPointer& stored) noexcept {
  return stored && stored->extent && stored->extent->first_byte == 0;
}

bool has_byte(const StoredPointer& stored, const SlicedObject& object, std::uint64_t position) {
  return stored && object.is_of(*stored->head) &&
         complete_length_bytes(*stored) == object.length_bytes &&
         covers(*stored, {{position, position}});
}

StoredPointer find_slice(const Transaction& transaction, const SlicedObject& object,
                         std::uint64_t position) {
  const std::uint64_t index = position / transaction.rules().slice_size_bytes;
  if (index == 0 || object.tag.empty()) return nullptr;
  const CacheKey key = slice_key(transaction.context.key, index, object.tag);
  auto stored =
      transaction.core.shared.store.find(key, transaction.request->fields, transaction.look)
          .response;
  return has_byte(stored, object, position) ? stored : nullptr;
}

http::ByteSpan wanted_of(const Selection& selection, const SlicedObject& object) {
  if (!selection.spans.empty()) return selection.spans.front();
  return {0, object.length_bytes - 1};
}

http::ByteSpan part_of(const http::ByteSpan& wanted, const StoredResponse& stored) {
  const std::uint64_t base = stored.extent ? stored.extent->first_byte : 0;
  return {wanted.first, std::min(wanted.last, base + stored.body->size_bytes - 1)};
}

http::ByteSpan slice_at(const SlicedObject& object, std::uint64_t position,
                        std::uint64_t slice_bytes) noexcept {
  const std::uint64_t index = position / slice_bytes;
  return {index * slice_bytes, std::min((index + 1) * slice_bytes, object.length_bytes) - 1};
}

SlicesStored slices_stored(const Transaction& transaction) {
  const RequestContext& context = transaction.context;
  const StoredPointer& first = transaction.found.response;
  const bool in_slices = context.may_fill_store && context.rules().slice_size_bytes > 0;
  if (!in_slices || !is_beginning(first)) return {};
  const TimePoint now = transaction.resident_now();
  const Verdict verdict = judge(&first->head->freshness(), context.directives, now);
  if (verdict == Verdict::must_validate) return {};
  const SlicedObject object = object_of(*first);
  const auto selection =
      select(context, transaction.request->fields, *object.head, object.length_bytes, now);
  http::ByteSpan left = wanted_of(selection, object);
  const std::uint64_t begin = left.first;
  while (left.first <= left.last) {
    const auto stored =
        has_byte(first, object, left.first) ? first : find_slice(transaction, object, left.first);
    if (!stored) {
      return {left.first != begin, slice_at(object, left.first, context.rules().slice_size_bytes)};
    }
    left.first = part_of(left, *stored).last + 1;
  }
  return {true, std::nullopt};
}

}  // namespace ringside::cache
