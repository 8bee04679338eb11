#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cache/core_state.h"
#include "cache/flight.h"
#include "cache/inquiry.h"
#include "cache/storability.h"
#include "http/exchange.h"
#include "http/head.h"

namespace ringside::cache {

// One request's way to an answer that the store doesn't have: it joins the one flight for its key
// and variant, or leads it. A thousand requests for a cold key cost one fetch.
class SharedFetch {
 public:
  // How the request is to be answered.
  enum class Way {
    stream,  // from reader(): the flight's head and its bytes as they come
    stored,  // from response(): what was stored is good (again)
    relay,   // from exchange(): this request led, and its answer is for it alone
    alone,   // by a fetch of its own: there is nothing to share
    failed,  // with error()
  };

  // All references must outlive the fetch. `found` is what the store has for the key; `interim_to`
  // is told of the origin's interim responses where this request leads (see http::OutgoingRequest).
  SharedFetch(CoreState& state, const Settings& settings, const http::RequestHead& request,
              const Inquiry& inquiry, const Store::Found& found, http::Connection* interim_to);

  // `head` is scratch space.
  http::Task<Way> run(std::string& head);

  [[nodiscard]] Flight& flight() noexcept { return *flight_; }
  [[nodiscard]] Flight::Reader& reader() noexcept { return *reader_; }
  [[nodiscard]] const StoredPointer& response() const noexcept { return response_; }
  [[nodiscard]] http::Exchange& exchange() noexcept { return *exchange_; }
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  // This request's own fetch went to the origin.
  [[nodiscard]] bool led() const noexcept { return led_; }
  // The status of the origin's answer to it; 0: none.
  [[nodiscard]] int origin_status() const noexcept { return origin_status_; }
  // Why the origin's answer was not stored.
  [[nodiscard]] Storability storability() const noexcept { return storability_; }

 private:
  http::Task<Way> lead(std::string& head);
  http::Task<std::optional<Way>> follow(SteadyPoint deadline);
  Way take_confirmed(const http::ResponseHead& response, const ExchangeTimes& times);
  Way take_answer(const http::ResponseHead& response, const ExchangeTimes& times);
  [[nodiscard]] bool fits(const StoredHead& head) const;

  CoreState& state_;
  const Settings& settings_;
  const http::RequestHead& request_;
  const Inquiry& inquiry_;
  http::Connection* const interim_to_;
  StoredPointer validated_;  // stored and to be confirmed; null: none
  std::string variant_;
  std::shared_ptr<Flight> flight_;
  std::optional<Flight::Reader> reader_;
  std::unique_ptr<http::Exchange> exchange_;
  StoredPointer response_;
  Error error_;
  Storability storability_ = Storability::storable;
  int origin_status_ = 0;
  bool led_ = false;
};

}  // namespace ringside::cache
