#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cache/flight.h"
#include "cache/sliced_object.h"
#include "cache/transaction.h"
#include "http/body.h"

namespace ringside::cache {

// The flight that brings the first slice, as one request takes part in it.
struct ComingSlice {
  std::unique_ptr<Flight::Reader> reader;
  Flight::Answer answer;
};

// The request as slices are fetched for it: its conditions are about the whole.
[[nodiscard]] http::RequestHead without_conditions(const http::RequestHead& request);
[[nodiscard]] http::RangeSet only(const http::ByteSpan& span);

// The bytes of an object that is fetched in slices: from the store where they are there, else from
// a flight for the one slice that comes next. It ends with an error where the object has become
// another one meanwhile.
class SlicedBody final : public http::BodySource {
 public:
  // The transaction must outlive the body. `first`: the first slice, where it is stored; `coming`:
  // where it is not.
  SlicedBody(Transaction& transaction, SlicedObject object, http::ByteSpan wanted,
             StoredPointer first, std::optional<ComingSlice> coming);

  [[nodiscard]] std::optional<Result<http::Pulled>> take() override;
  [[nodiscard]] Task<Result<http::Pulled>> pull() override;
  [[nodiscard]] std::size_t pinned_bytes() const override;

 private:
  // Where the next bytes come from.
  struct Part {
    http::Body body;
    bool is_exchange = false;        // its failure is counted here
    StoredPointer stored = nullptr;  // where it is from the store
  };

  [[nodiscard]] bool begin_at_hand();
  Task<bool> begin_fetched();
  Task<bool> begin_alone(http::ByteSpan slice);
  [[nodiscard]] bool begin_coming(ComingSlice coming, const http::ByteSpan& slice);
  void begin_stored(const StoredPointer& stored);
  [[nodiscard]] StoredPointer find_stored() const;
  [[nodiscard]] Result<http::Pulled> given(Result<http::Pulled> pulled);
  void forget_object();

  Transaction& transaction_;
  const http::RequestHead request_;
  const SlicedObject object_;
  const StoredPointer first_;
  std::optional<ComingSlice> coming_;
  http::ByteSpan left_;
  std::optional<Part> part_;  // nullopt: the next one is to be begun
  bool part_has_ended_ = false;
};

// What is stored of the object and has that byte, `first` or another slice; null: nothing.
[[nodiscard]] StoredPointer find_stored_slice(const Transaction& transaction,
                                              const StoredPointer& first,
                                              const SlicedObject& object, std::uint64_t position);

}  // namespace ringside::cache
