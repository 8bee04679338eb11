#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cache/flight.h"
#include "cache/transaction.h"
#include "hop/upstream.h"
#include "http/body.h"

namespace ringside::cache {

// Which bytes of a flight's body are wanted: from `first` on, `length_bytes` of them; nullopt: all
// that come.
struct Window {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> length_bytes;
};

// What one request gets of a flight's body. A client that takes less than others of a body that is
// not stored gets the rest by a fetch of its own, if an entity tag tells that it is of the same
// bytes (RFC 9110 §13.1.5).
class FlightBody final : public http::BodySource {
 public:
  // The transaction must outlive the body.
  FlightBody(Transaction& transaction, std::unique_ptr<Flight::Reader> reader,
             Flight::Answer answer, Window window)
      : transaction_(transaction),
        reader_(std::move(reader)),
        answer_(std::move(answer)),
        window_(window) {}

  [[nodiscard]] std::optional<Result<http::Pulled>> take() override;
  [[nodiscard]] Task<Result<http::Pulled>> pull() override;
  [[nodiscard]] std::size_t pinned_bytes() const override {
    const std::size_t of_flight_bytes = rest_ ? 0 : reader_->pinned_bytes();
    return std::max(of_flight_bytes, cache::pinned_bytes(pieces_));
  }

 private:
  [[nodiscard]] Result<http::Pulled> pulled(Result<Flight::Reader::Taken> taken);
  void add(std::string_view bytes);
  [[nodiscard]] bool is_full() const noexcept;
  Task<Result<http::Pulled>> begin_rest(Error error);
  [[nodiscard]] Result<http::Pulled> count_failure(Result<http::Pulled> of_rest);

  Transaction& transaction_;
  std::unique_ptr<Flight::Reader> reader_;
  const Flight::Answer answer_;
  const Window window_;
  std::uint64_t at_ = 0;     // of the flight's body
  std::uint64_t given_ = 0;  // of the window
  std::vector<PiecePointer> pieces_;
  std::vector<std::string_view> views_;  // into them
  std::unique_ptr<hop::Exchange> rest_;  // set: where the rest comes from
};

// Begins the response from a flight that streams: the head, and as the body its bytes as they come,
// or those of them that the request wants.
void give_flight(Transaction& transaction, std::unique_ptr<Flight::Reader> reader,
                 const Flight::Answer& answer, http::Response& response);

}  // namespace ringside::cache
