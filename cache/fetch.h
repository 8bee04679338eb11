#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cache/core_state.h"
#include "cache/decision.h"
#include "cache/fetch_plan.h"
#include "cache/flight.h"
#include "cache/holder.h"
#include "cache/leadership.h"
#include "cache/request_context.h"
#include "hop/upstream.h"
#include "http/caller.h"
#include "http/head.h"

namespace ringside::cache {

// One request's way to a response that the store doesn't have: it joins the one flight for its key,
// variant and range, or leads it. A thousand requests for a cold key cost one fetch ("collapsed
// forwarding"). Who leads goes through the chain of sources: the store once more, then the bucket's
// holder, then the origin; what to make of what came cache/decision.h says, and this does it.
class Fetch {
 public:
  enum class Purpose {
    answer,   // somebody waits for it
    refresh,  // what is stored is given meanwhile; done by one, nothing where another does it
  };
  // Where the response is to be taken from.
  enum class From {
    flight,     // take_reader(): the flight's head and its bytes as they come
    store,      // response(): what was stored is good (again), or is_stale() and allowed
    exchange,   // take_exchange(): this request led, and what came is for it alone
    elsewhere,  // a fetch of its own: there is nothing to share
    failed,     // error()
    nobody,     // a refresh that another request does
  };

  // All references must outlive the fetch. `found` is what the store has for the key; `interim_to`
  // is told of the origin's interim responses where this request leads; null: nobody is.
  Fetch(CoreState& core, const Settings& settings, const http::RequestHead& request,
        const RequestContext& context, const Store::Found& found, http::Caller* interim_to,
        Purpose purpose = Purpose::answer);

  Task<From> run();
  // In place of run(): takes what an exchange has brought already, for what a later GET would get.
  // From::flight or From::exchange.
  From adopt(std::unique_ptr<hop::Exchange> exchange, const ExchangeTimes& times);

  [[nodiscard]] Flight::Answer answer() const { return flight_->answer(); }
  [[nodiscard]] std::unique_ptr<Flight::Reader> take_reader() noexcept {
    return std::move(reader_);
  }
  [[nodiscard]] std::unique_ptr<hop::Exchange> take_exchange() noexcept {
    return std::move(exchange_);
  }
  [[nodiscard]] const StoredPointer& response() const noexcept { return response_; }
  [[nodiscard]] bool is_stale() const noexcept { return stale_; }
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  // This request's own fetch went to the origin.
  [[nodiscard]] bool led() const noexcept { return led_; }
  // The status of the origin's answer to it; 0: none.
  [[nodiscard]] int origin_status() const noexcept { return origin_status_; }
  // How the bucket's holder came by what it answered; nullopt: it was not asked.
  [[nodiscard]] std::optional<metrics::Outcome> holders() const noexcept { return fill_.outcome; }
  // Why the origin's answer was not stored.
  [[nodiscard]] Storability storability() const noexcept { return storability_; }
  // Lines of the answer that are for this request alone and not stored.
  [[nodiscard]] const std::string& own_lines() const noexcept { return own_lines_; }

 private:
  [[nodiscard]] FlightTable::Joined join();
  Task<From> lead();
  Task<std::optional<From>> follow(SteadyPoint deadline);
  Task<std::optional<Action>> ask();
  [[nodiscard]] Fetched fetched() const;
  From give_found(Leadership& leadership);
  From carry_out(Leadership& leadership, Action action);
  From publish(Action& action);
  From follow_failure(Error error);
  [[nodiscard]] std::optional<From> follow_completed();
  [[nodiscard]] bool is_answered_meanwhile();
  [[nodiscard]] bool is_good(const StoredResponse& stored) const;
  [[nodiscard]] bool is_fresh(const StoredHead& head) const;

  CoreState& core_;
  const Settings& settings_;
  const http::RequestHead& request_;
  const RequestContext& context_;
  http::Caller* const interim_to_;
  const Purpose purpose_;
  StoredPointer known_;  // what the store had when the request came; null: nothing
  FetchPlan plan_;
  std::string variant_;
  std::shared_ptr<Flight> flight_;
  std::unique_ptr<Flight::Reader> reader_;
  std::unique_ptr<hop::Exchange> exchange_;
  ExchangeTimes times_;
  StoredPointer response_;
  Error error_;
  std::string own_lines_;
  Storability storability_ = Storability::storable;
  int origin_status_ = 0;
  FillNotes fill_;
  bool led_ = false;
  bool stale_ = false;
};

// Before a flight is joined: a bucket of which something is fetched is not given away. True: it has
// waited, and another replica may hold the bucket by now.
Task<bool> wait_for_move(CoreState& core, const Settings& settings, const RequestContext& context,
                         SteadyPoint deadline);

// What a fetch that has run makes of what is said of the response.
struct Transaction;
void note_fetch(Transaction& transaction, const Fetch& fetch);

}  // namespace ringside::cache
