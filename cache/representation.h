#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cache/selection.h"
#include "cache/stored_response.h"
#include "cache/transaction.h"

namespace ringside::cache {

// What a response is made of that is stored, or comes to be: whatever its bytes come from.
struct Representation {
  std::shared_ptr<const StoredHead> head;
  std::optional<std::uint64_t> complete_length_bytes;  // of the whole, where known
  std::optional<std::uint64_t> length_bytes;           // of what is at hand or coming, where known
  bool may_be_multipart = false;                       // several parts can be given in any order
};

// Begins the response to the request: the whole, parts, 304 or 416, with all of its fields. The
// place, and the only one, where conditional requests and ranges are applied (RFC 9110 §13.2.2,
// §14.2). Returns what its content is to be; of several parts that can't be given, the whole.
Selection begin_response(const Transaction& transaction, const Representation& representation,
                         ResponseNotes notes, http::Response& response);

// The response from what is stored, which is enough for the request (see is_enough). Its content is
// sent as it lies.
void give_stored(Transaction& transaction, const StoredPointer& stored, http::Response& response);

}  // namespace ringside::cache
