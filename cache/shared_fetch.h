#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cache/core_state.h"
#include "cache/fetch_plan.h"
#include "cache/flight.h"
#include "cache/inquiry.h"
#include "cache/leadership.h"
#include "cache/storability.h"
#include "http/head.h"
#include "http1/exchange.h"

namespace ringside::cache {

// One request's way to an answer that the store doesn't have: it joins the one flight for its key,
// variant and range, or leads it. A thousand requests for a cold key cost one fetch.
class SharedFetch {
 public:
  enum class Purpose {
    answer,   // somebody waits for it
    refresh,  // what is stored is given meanwhile; done by one, nothing where another does it
  };
  // How the request is to be answered.
  enum class Way {
    stream,  // from reader(): the flight's head and its bytes as they come
    stored,  // from response(): what was stored is good (again), or is_stale() and allowed
    relay,   // from exchange(): this request led, and its answer is for it alone
    alone,   // by a fetch of its own: there is nothing to share
    failed,  // with error()
    nobody,  // a refresh that another request does
  };

  // All references must outlive the fetch. `found` is what the store has for the key; `interim_to`
  // is told of the origin's interim responses where this request leads (see http::OutgoingRequest).
  SharedFetch(CoreState& state, const Settings& settings, const http::RequestHead& request,
              const Inquiry& inquiry, const Store::Found& found, http::Connection* interim_to,
              Purpose purpose = Purpose::answer);

  // `head` is scratch space.
  Task<Way> run(std::string& head);
  // In place of run(): takes the answer that an exchange has brought already, for what a later GET
  // would get. Way::stream or Way::relay.
  Way adopt(std::unique_ptr<http::Exchange> exchange, const ExchangeTimes& times);

  [[nodiscard]] Flight& flight() noexcept { return *flight_; }
  [[nodiscard]] Flight::Reader& reader() noexcept { return *reader_; }
  [[nodiscard]] const StoredPointer& response() const noexcept { return response_; }
  [[nodiscard]] bool is_stale() const noexcept { return stale_; }
  [[nodiscard]] http::Exchange& exchange() noexcept { return *exchange_; }
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  // This request's own fetch went to the origin.
  [[nodiscard]] bool led() const noexcept { return led_; }
  // The status of the origin's answer to it; 0: none.
  [[nodiscard]] int origin_status() const noexcept { return origin_status_; }
  // Why the origin's answer was not stored.
  [[nodiscard]] Storability storability() const noexcept { return storability_; }
  // Lines of the answer that are for this request alone and not stored (cookies, private fields).
  [[nodiscard]] const std::string& own_lines() const noexcept { return own_lines_; }

 private:
  [[nodiscard]] FlightTable::Joined join();
  Task<Way> lead(std::string& head);
  Task<std::optional<Way>> follow(SteadyPoint deadline);
  Task<Result<void>> ask(std::string& head);
  [[nodiscard]] bool validates() const noexcept;
  [[nodiscard]] bool is_answered_meanwhile();
  Way take_failure(Leadership& leadership, const Error& error);
  Way take(Leadership& leadership, const http::ResponseHead& response);
  Way take_confirmed(Leadership& leadership, const http::ResponseHead& response);
  Way take_answer(Leadership& leadership, const http::ResponseHead& response);
  Way take_rest(Leadership& leadership, const http::ResponseHead& response);
  Way take_stale(Leadership& leadership, Flight::Completion why);
  [[nodiscard]] bool takes_stale(const StoredPointer& stored, Flight::Completion why) const;
  Way follow_failure(Error error);
  [[nodiscard]] bool is_good(const StoredResponse& stored) const;
  [[nodiscard]] Storability judge_storability(const http::ResponseHead& response,
                                              const http::ResponseDirectives& directives,
                                              const Freshness& freshness) const;
  [[nodiscard]] bool fits(const StoredHead& head) const;
  [[nodiscard]] bool wants_just(const http::ByteSpan& part, std::uint64_t length_bytes) const;

  CoreState& state_;
  const Settings& settings_;
  const http::RequestHead& request_;
  const Inquiry& inquiry_;
  http::Connection* const interim_to_;
  const Purpose purpose_;
  StoredPointer known_;  // what the store had when the request came; null: nothing
  FetchPlan plan_;
  std::string variant_;
  std::shared_ptr<Flight> flight_;
  std::optional<Flight::Reader> reader_;
  std::unique_ptr<http::Exchange> exchange_;
  ExchangeTimes times_;
  StoredPointer response_;
  Error error_;
  std::string own_lines_;
  Storability storability_ = Storability::storable;
  int origin_status_ = 0;
  bool led_ = false;
  bool stale_ = false;
};

}  // namespace ringside::cache
