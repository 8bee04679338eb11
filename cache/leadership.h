#pragma once

#include <utility>

#include "cache/flight_table.h"

namespace ringside::cache {

// A leader that ends early must not leave its followers waiting.
class Leadership {
 public:
  Leadership(FlightTable& flights, Flight& flight) noexcept : flights_(flights), flight_(flight) {}
  ~Leadership() {
    if (flight_.state() == Flight::State::asking) {
      fail({ErrorKind::internal, ErrorSource::ourselves, Retry::no,
            "the shared fetch was given up"});
    }
  }
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  void complete(StoredPointer response, Flight::Completion completion) {
    flights_.leave(flight_);
    flight_.complete(std::move(response), completion);
  }
  void release() {
    flights_.leave(flight_);
    flight_.release();
  }
  void fail(const Error& error) {
    flights_.leave(flight_);
    flight_.fail(error);
  }

 private:
  FlightTable& flights_;
  Flight& flight_;
};

}  // namespace ringside::cache
