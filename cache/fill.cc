#include "cache/fill.h"

#include "base/limits.h"

namespace ringside::cache {
namespace {

// A flight's bytes within the store's budget.
class Share {
 public:
  explicit Share(Store& store) noexcept : store_(store) {}
  ~Share() { end(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // For a piece of that size that is to be made: what is reserved for it; 0: there is no room.
  [[nodiscard]] std::size_t add(std::size_t size_bytes) {
    const std::size_t cost = BodyMemory::cost_bytes(size_bytes);
    const std::size_t most = BodyMemory::cost_bytes_most(size_bytes);
    if (bytes_ + cost > store_.object_limit_bytes() || !store_.reserve(most)) return 0;
    store_.memory().count_filling(cost);
    bytes_ += cost;
    return most;
  }
  // From here on who holds the pieces pins them, if it is not the store.
  void end() noexcept {
    store_.memory().count_filled(bytes_);
    bytes_ = 0;
  }

 private:
  Store& store_;
  std::size_t bytes_ = 0;
};

// Many small pieces cost more than their bytes, and a write of each.
std::shared_ptr<const Body> whole_of(Store& store, std::vector<PiecePointer> pieces) {
  auto body = make_body();
  for (const PiecePointer& piece : pieces) body->size_bytes += piece->bytes().size();
  const bool small = body->size_bytes < pieces.size() * limits::merged_piece_size_bytes;
  const std::size_t cost = BodyMemory::cost_bytes_most(body->size_bytes);
  if (pieces.size() > 1 && small && store.reserve(cost)) {
    std::vector<std::string_view> texts;
    texts.reserve(pieces.size());
    for (const PiecePointer& piece : pieces) texts.push_back(piece->bytes());
    pieces = store.memory().make(texts, cost);
  }
  body->pieces.assign(pieces.begin(), pieces.end());
  return body;
}

// Reads one body into a flight.
class Filling {
 public:
  Filling(CoreState& state, Flight& flight, hop::Exchange& exchange, const FillTerms& terms)
      : state_(state),
        flight_(flight),
        exchange_(exchange),
        terms_(terms),
        share_(state.shared.store),
        room_(state.core) {
    if (!terms.keep) let_go();
  }

  // True: the body is complete.
  Task<bool> run() {
    for (bool last = false; !last;) {
      auto pulled = exchange_.take();
      if (!pulled) pulled = co_await exchange_.pull();
      if (!*pulled) {
        state_.sheet.count_error(pulled->error());
        fail(pulled->error());
        co_return false;
      }
      last = (*pulled)->last;
      for (const std::string_view piece : (*pulled)->pieces) {
        came_bytes_ += piece.size();
        append(piece);
      }
      if (came_bytes_ > terms_.expected_bytes.value_or(came_bytes_)) break;
      if (last) break;
      bool has_room = true;
      if (!keeping_) {
        has_room = co_await flight_.wait_for_room(room_, limits::client_io_timeout, window_bytes());
      }
      if (!has_room) {
        fail({ErrorKind::disconnected, ErrorSource::client, Retry::no, "nobody reads any more"});
        co_return false;
      }
    }
    if (terms_.expected_bytes && came_bytes_ != *terms_.expected_bytes) {
      const Error misfit{ErrorKind::malformed, ErrorSource::origin, Retry::no,
                         "the body is not as long as its Content-Range says"};
      state_.sheet.count_error(misfit);
      fail(misfit);
      co_return false;
    }
    co_return true;
  }

  void finish() {
    if (keeping_) {
      const auto body = whole_of(state_.shared.store, flight_.pieces());
      const Flight::Answer answer = flight_.answer();
      StoredPointer response = make_stored({answer.head, body, answer.extent});
      const bool is_whole =
          answer.extent && body->size_bytes == answer.extent->complete_length_bytes;
      if (is_whole) response = make_stored({answer.head, body});
      keep_fetched(state_.shared, flight_, std::move(response), terms_.variants_most);
      share_.end();
      state_.shared.flights.leave(flight_);
    }
    flight_.finish();
  }

 private:
  void append(std::string_view bytes) {
    const std::size_t paid = keeping_ ? share_.add(bytes.size()) : 0;
    if (keeping_ && paid == 0) let_go();
    for (auto& piece : state_.shared.store.memory().make({&bytes, 1}, paid)) {
      flight_.append(std::move(piece));
    }
  }

  [[nodiscard]] std::size_t window_bytes() const noexcept {
    return state_.shared.store.is_pinned_full() ? limits::flight_window_least_bytes
                                                : limits::flight_window_bytes;
  }

  void let_go() {
    keeping_ = false;
    state_.shared.flights.leave(flight_);
    flight_.stop_keeping();
    share_.end();
  }

  // What came so far is no response: nothing is stored.
  void fail(const Error& error) {
    if (keeping_) state_.shared.flights.leave(flight_);
    flight_.fail(error);
  }

  CoreState& state_;
  Flight& flight_;
  hop::Exchange& exchange_;
  const FillTerms& terms_;
  Share share_;
  net::Waiter room_;
  std::uint64_t came_bytes_ = 0;
  bool keeping_ = true;
};

}  // namespace

Task<void> fill(CoreState& state, std::shared_ptr<Flight> flight,
                std::unique_ptr<hop::Exchange> exchange, FillTerms terms) {
  Filling filling(state, *flight, *exchange, terms);
  if (co_await filling.run()) filling.finish();
}

}  // namespace ringside::cache
