#include "cache/bucket_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/log.h"
#include "cache/emptying.h"
#include "cache/move_pace.h"
#include "cache/move_room.h"
#include "cache/moved_response.h"
#include "cache/peer_exchange.h"
#include "http/internal_fields.h"
#include "net/nap.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

constexpr std::size_t batch_size_bytes_most =
    limits::move_batch_size_bytes + limits::moved_response_size_bytes + limits::kMiB;

// Of `NUMBER SERIAL`. 0: an older replica says none.
std::uint64_t serial_in(std::string_view text) {
  std::uint64_t serial = 0;
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return serial;
  std::from_chars(text.data() + space + 1, text.data() + text.size(), serial);
  return serial;
}

// Of the content. Where it is not said, as much as a batch has most often.
std::size_t length_of(const http::ResponseHead& head) {
  return http::length_is_known(head.framing) ? head.framing.length_bytes
                                             : limits::move_batch_size_bytes;
}

Error too_large(std::size_t size_bytes) {
  return {ErrorKind::body_too_large, ErrorSource::peer, Retry::no,
          fmt::format("a batch of {} bytes is too large", size_bytes)};
}

// What all moves into this replica share; each keeps it. On one core.
class Moves : public std::enable_shared_from_this<Moves> {
 public:
  explicit Moves(CoreState& core)
      : core_(core), waiter_(core.core), room_(core.shared.store.limit_bytes()) {}

  Task<void> run() {
    net::Waiter pause(core_.core);
    while (!core_.core.stopped()) {
      core_.shared.holders.note_strays(
          [this](shard::Bucket bucket) { return core_.shared.store.count_of(bucket) > 0; });
      if (core_.shared.holders.give_up_if_forgotten()) co_await drop_strays();
      const SteadyPoint now = core_.core.steady_now();
      if (now >= suspect_takers_at_) {
        suspect_takers_at_ = now + limits::stray_interval;
        core_.shared.holders.suspect_takers();
      }
      SteadyPoint next = now + limits::stray_interval;
      const auto givers =
          may_move() ? core_.shared.holders.givers(waiter_.bell()) : std::vector<tier::Peer>();
      begin_anew_with_others_than(givers);
      for (const tier::Peer& giver : givers) {
        if (under_way_ >= limits::moves_at_once) break;
        State& state = states_[giver.name];
        if (state.is_under_way) continue;
        if (now < state.not_before) {
          next = std::min(next, state.not_before);
          continue;
        }
        state.is_under_way = true;
        ++under_way_;
        core_.core.spawn(move_from(shared_from_this(), giver));
      }
      // Much may change at once, and is looked at together.
      co_await pause.wait(now + limits::deadline_tick);
      co_await waiter_.wait(next);
    }
  }

 private:
  struct Batch {
    std::string content;
    std::string purges_done;
    std::uint64_t serial = 0;
    tier::HoldingsVersion version;  // of the giver's holdings, before it was made; older ones: none
    AskedAt asked;
    std::uint64_t purges_seen = 0;
  };
  struct State {
    bool is_under_way = false;
    SteadyPoint not_before{};
    // Of the next batch. It goes on, and one that is lost is asked for again, while all that came
    // from the giver before is still there.
    std::uint64_t number = 1;
    std::uint64_t serial = 0;  // of the answer that came last, as the giver counts them
    std::uint64_t purges = 0;  // of our store, when it was last asked

    void has_come(const Batch& batch) noexcept {
      ++number;
      serial = batch.serial;
    }
  };
  // What a batch is made of.
  struct Content {
    std::vector<MovedResponse> responses;
    std::vector<UncacheableKeys::Mark> uncacheable;
    std::vector<MovedBucket> buckets;
  };
  // none: the giver has not heard of all purges, or one came here while it was asked; what it gives
  // may be what they remove.
  enum class Kept { all, none };

  // What nobody will ask for.
  Task<void> drop_strays() {
    if (core_.shared.store.entries() == 0) co_return;
    static_cast<void>(co_await purge_by_steps(core_, std::string()));
  }

  static Task<void> move_from(std::shared_ptr<Moves> moves, tier::Peer giver) {
    const auto moved = co_await moves->move_all_from(giver);
    if (!moved) tell_of_peer(moves->core_, giver, "gives nothing", moved.error());
    moves->end(giver.name);
  }

  // What came from those may have gone back by the time they give again.
  void begin_anew_with_others_than(const std::vector<tier::Peer>& givers) {
    for (auto& [name, state] : states_) {
      const auto is_it = [&name = name](const tier::Peer& giver) { return giver.name == name; };
      if (!state.is_under_way && std::none_of(givers.begin(), givers.end(), is_it))
        state.number = 1;
    }
  }

  void end(const std::string& giver) {
    State& state = states_[giver];
    state.is_under_way = false;
    state.not_before = core_.core.steady_now() + limits::move_pause;
    --under_way_;
    waiter_.bell()->wake();
  }

  // Not while this process ends, nor where moving is turned off, which a reload may do at any time.
  [[nodiscard]] bool may_move() const {
    return !core_.core.stopped() && core_.settings->move_rate_mib_s > 0;
  }

  // Batch after batch, until one is empty, something in it was taken back, or no more may move.
  Task<Result<void>> move_all_from(const tier::Peer& giver) {
    net::Waiter waiter(core_.core);
    unsigned tried = 0;
    State& state = states_[giver.name];
    if (core_.shared.store.purge_count() != state.purges) state.number = 1;
    while (may_move()) {
      co_await wait_for_room(giver.name);
      const bool is_urgent = core_.shared.holders.is_draining(giver.name);
      const SteadyPoint due = pace_.next_batch(is_urgent);
      co_await net::nap_until(core_.core, due);
      if (!may_move()) break;
      const SteadyPoint asked = core_.core.clock().steady_now();
      state.purges = core_.shared.store.purge_count();
      Batch begun = begin_batch();
      auto answered = co_await ask(giver, state);
      if (!answered) co_return answered.error();
      const std::size_t size_bytes = length_of((*answered)->head());
      if (size_bytes > batch_size_bytes_most) co_return too_large(size_bytes);
      MoveRoom::Arrival arrival(room_, size_bytes);
      const auto turn = co_await wait_for_turn(arrival, giver.name, begun.asked.steady);
      if (!turn) co_return turn.error();
      auto batch = co_await receive(**answered, size_bytes, std::move(begun));
      if (!batch) co_return batch.error();
      if (batch->content.empty()) {
        state.has_come(*batch);
        break;
      }
      const auto content = read(*batch);
      if (!content) co_return content.error();
      pay_for(*batch, giver.name, asked, *turn);
      const Kept kept = keep(*content, *batch);
      if (kept == Kept::none && ++tried < limits::move_purge_tries) {
        co_await waiter.wait(core_.core.steady_now() + limits::move_purge_pause);
        continue;
      }
      for (const auto& mark : content->uncacheable) core_.shared.uncacheable.remember(mark);
      // It is asked for again after a pause, if we are still to take something from that giver.
      if (!take(content->buckets, giver.name, batch->version)) break;
      tried = 0;
      state.has_come(*batch);
    }
    co_return Result<void>();
  }

  // Until the store has room for a batch. Meanwhile others may move, as one may that is about to
  // end: it does not wait.
  Task<void> wait_for_room(const std::string& giver) {
    const auto full_until = [&]() -> std::optional<SteadyPoint> {
      const Store& store = core_.shared.store;
      const std::size_t used_bytes = std::min(store.used_bytes(), store.limit_bytes());
      const SteadyPoint now = core_.core.steady_now();
      const auto until = room_.full_until(store.limit_bytes() - used_bytes, now);
      if (!until || !may_move() || core_.shared.holders.is_draining(giver)) {
        return std::nullopt;
      }
      return std::min(*until, now + limits::stray_interval);
    };
    auto until = full_until();
    if (!until) co_return;
    if (core_.shared.moved.waiting.fetch_add(1) == 0) tell_of_wait();
    --under_way_;
    waiter_.bell()->wake();
    net::Waiter waiter(core_.core);
    for (; until; until = full_until()) co_await waiter.wait(*until);
    while (under_way_ >= limits::moves_at_once && !core_.core.stopped()) {
      co_await waiter.wait(core_.core.steady_now() + limits::move_pause);
    }
    ++under_way_;
    core_.shared.moved.waiting.fetch_sub(1);
  }

  void tell_of_wait() const {
    log::info(
        "{}: moving waits: the store is full, and what moved has taken 1/{} of it in {} s; "
        "the holders go on answering; with more --memory it would not wait",
        core_.shared.name, limits::moved_share_divisor,
        std::chrono::duration_cast<Seconds>(limits::move_room_interval).count());
  }

  // Before it is asked for.
  [[nodiscard]] Batch begin_batch() const {
    Batch batch;
    batch.asked = {core_.core.resident_now(), core_.core.steady_now()};
    batch.purges_seen = core_.shared.store.purge_count();
    return batch;
  }

  Task<Result<std::unique_ptr<hop::Exchange>>> ask(const tier::Peer& giver, const State& state) {
    PeerQuestion question;
    question.fields =
        fmt::format("{}: {} {}", http::internal::move, core_.shared.name, state.number);
    if (state.serial > 0) question.fields += fmt::format(" {}", state.serial);
    question.fields +=
        fmt::format("\r\n{}: {}\r\n", http::internal::move_most, room_.response_bytes_most());
    question.timeout = limits::move_timeout;
    co_return co_await ask_peer(core_, giver, std::move(question));
  }

  // Since when it is its turn; nullopt: it had to wait for nobody. An Error: the question has no
  // time left. A batch whose giver drains does not wait.
  Task<Result<std::optional<SteadyPoint>>> wait_for_turn(MoveRoom::Arrival& arrival,
                                                         const std::string& giver,
                                                         SteadyPoint asked) {
    net::Waiter waiter(core_.core);
    bool has_waited = false;
    while (!arrival.may_begin() && !core_.shared.holders.is_draining(giver)) {
      const bool is_over = core_.core.steady_now() >= asked + limits::move_timeout;
      if (is_over || core_.core.stopped()) {
        co_return Error{ErrorKind::timeout, ErrorSource::ourselves, Retry::no,
                        "its batch waited too long for those of others"};
      }
      co_await waiter.wait(core_.core.steady_now() + limits::deadline_tick);
      has_waited = true;
    }
    arrival.begin();
    std::optional<SteadyPoint> since;
    if (has_waited) since = core_.core.clock().steady_now();
    co_return since;
  }

  Task<Result<Batch>> receive(hop::Exchange& exchange, std::size_t size_bytes, Batch batch) {
    const http::Fields& said = exchange.head().fields;
    batch.purges_done = said.first(http::internal::purges_done).value_or(std::string_view{});
    // An older replica gives nothing.
    const auto move = said.first(http::internal::move);
    if (!move) co_return std::move(batch);
    batch.serial = serial_in(*move);
    if (const auto version = said.first(http::internal::holdings)) {
      const auto read = tier::parse_holdings_version(*version);
      if (!read) co_return read.error();
      batch.version = *read;
    }
    auto content = co_await content_of(exchange, batch_size_bytes_most, size_bytes);
    if (!content) co_return content.error();
    batch.content = *std::move(content);
    co_return std::move(batch);
  }

  [[nodiscard]] static Result<Content> read(const Batch& batch) {
    Content content;
    for (std::string_view left = batch.content; !left.empty();) {
      auto item = take_moved(left, batch.asked);
      if (!item) return item.error();
      if (auto* const response = std::get_if<MovedResponse>(&*item)) {
        content.responses.push_back(std::move(*response));
      } else if (const auto* const mark = std::get_if<UncacheableKeys::Mark>(&*item)) {
        content.uncacheable.push_back(*mark);
      } else {
        content.buckets.push_back(std::get<MovedBucket>(*item));
      }
    }
    return content;
  }

  [[nodiscard]] Kept keep(const Content& content, const Batch& batch) {
    if (content.responses.empty()) return Kept::all;
    Store& store = core_.shared.store;
    const auto restore_all = [&] {
      for (const MovedResponse& moved : content.responses) {
        const bool is_stored =
            store.restore(moved.key, {moved.head, nullptr, moved.extent}, moved.body, moved.warmth,
                          batch.purges_seen, room_.may_evict_bytes());
        if (!is_stored) {
          core_.shared.moved.left_out.fetch_add(1);
          continue;
        }
        core_.shared.moved.responses.fetch_add(1);
        core_.shared.moved.bytes.fetch_add(moved.body.size());
      }
    };
    const bool is_done =
        core_.shared.purges.use_if_done(batch.purges_done, core_.core.steady_now(), restore_all);
    const bool is_stored = store.purge_count() == batch.purges_seen;
    return is_done && is_stored ? Kept::all : Kept::none;
  }

  // After what is stored of them is there. False: the giver has taken some of them back meanwhile,
  // and none is taken.
  [[nodiscard]] bool take(const std::vector<MovedBucket>& buckets, const std::string& giver,
                          const tier::HoldingsVersion& version) {
    if (buckets.empty()) return true;
    const auto is_gift = [](const MovedBucket& bucket) { return bucket.epoch > 0; };
    const bool gives = std::any_of(buckets.begin(), buckets.end(), is_gift);
    bool is_taken = false;
    core_.shared.holders.change([&](tier::Authority& authority) {
      is_taken = !gives || !authority.is_taken_back(giver, version);
      for (const MovedBucket& given : buckets) {
        if (is_taken && is_gift(given)) {
          authority.take(given.bucket, given.epoch, giver, given.known_buckets);
        }
      }
    });
    return is_taken;
  }

  // `turn`: see wait_for_turn().
  void pay_for(const Batch& batch, const std::string& giver, SteadyPoint asked,
               std::optional<SteadyPoint> turn) {
    const SteadyPoint now = core_.core.clock().steady_now();
    const std::size_t allowed_bytes_s = core_.settings->move_rate_mib_s * limits::kMiB;
    // A reload may have turned moving off since.
    if (allowed_bytes_s == 0) return;
    const bool is_urgent = core_.shared.holders.is_draining(giver);
    const std::size_t size_bytes = batch.content.size();
    if (turn) {
      pace_.came_after_waiting(size_bytes, now - *turn, allowed_bytes_s, is_urgent, now);
    } else {
      pace_.came(size_bytes, now - asked, allowed_bytes_s, is_urgent, now);
    }
  }

  CoreState& core_;
  net::Waiter waiter_;
  std::map<std::string, State> states_;
  std::size_t under_way_ = 0;
  SteadyPoint suspect_takers_at_{};
  MovePace pace_;
  MoveRoom room_;
};

}  // namespace

Task<void> move_buckets(CoreState& core) {
  const auto moves = std::make_shared<Moves>(core);
  co_await moves->run();
}

}  // namespace ringside::cache
