#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cache/selection.h"
#include "cache/stored_response.h"
#include "cache/transaction.h"
#include "http/byte_range.h"

namespace ringside::cache {

// What the first slice tells of an object that is fetched in slices.
struct SlicedObject {
  std::shared_ptr<const StoredHead> head;
  std::uint64_t length_bytes = 0;
  std::uint64_t first_bytes = 0;  // of it, that are at hand
  std::string tag;                // strong; empty: there is none

  // True where the bytes that came with this head are bytes of this object: for others than the
  // first slice's own, where both have the same strong entity tag (RFC 9110 §15.3.7.3).
  [[nodiscard]] bool is_of(const StoredHead& other) const;
};
[[nodiscard]] SlicedObject object_of(std::shared_ptr<const StoredHead> head,
                                     std::uint64_t length_bytes, std::uint64_t first_bytes);
[[nodiscard]] SlicedObject object_of(const StoredResponse& first);

// True where nothing would tell which slices belong together: what is stored, of the whole or of a
// part, has no strong entity tag. Then the route's slices are not asked for while it is stored.
[[nodiscard]] bool is_untagged(const StoredPointer& stored);

// True for a stored part that has the first byte.
[[nodiscard]] bool is_beginning(const StoredPointer& stored) noexcept;

// True where what is stored (null: nothing) is of the object and has that byte.
[[nodiscard]] bool has_byte(const StoredPointer& stored, const SlicedObject& object,
                            std::uint64_t position);

// The slice after the first that has that byte of the object that is asked for; null: not stored.
[[nodiscard]] StoredPointer find_slice(const Transaction& transaction, const SlicedObject& object,
                                       std::uint64_t position);

// What of the object a request gets that gets one range of it, or all.
[[nodiscard]] http::ByteSpan wanted_of(const Selection& selection, const SlicedObject& object);

// Of a stored response that has the first byte of `wanted`: as much of it as it has.
[[nodiscard]] http::ByteSpan part_of(const http::ByteSpan& wanted, const StoredResponse& stored);

// The slice that has that byte.
[[nodiscard]] http::ByteSpan slice_at(const SlicedObject& object, std::uint64_t position,
                                      std::uint64_t slice_bytes) noexcept;

// What of that which the request wants stands in slices, and may be given without asking anybody.
struct SlicesStored {
  bool has_beginning = false;             // where it is false nothing may
  std::optional<http::ByteSpan> missing;  // the first slice that is not stored; nullopt: all are
};
[[nodiscard]] SlicesStored slices_stored(const Transaction& transaction);
[[nodiscard]] inline bool are_slices_stored(const Transaction& transaction) {
  const SlicesStored stored = slices_stored(transaction);
  return stored.has_beginning && !stored.missing;
}

}  // namespace ringside::cache
