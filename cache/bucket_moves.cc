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
#include "http/error_response.h"
#include "http/internal_fields.h"
#include "net/nap.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

constexpr std::size_t batch_size_bytes_most =
    limits::move_batch_size_bytes + limits::moved_response_size_bytes + limits::kMiB;

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
      const bool may_move = core_.settings->move_rate_mib_s > 0;
      const auto givers =
          may_move ? core_.shared.holders.givers(waiter_.bell()) : std::vector<tier::Peer>();
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
  struct State {
    bool is_under_way = false;
    SteadyPoint not_before{};
    // Of the next batch. It goes on, and one that is lost is asked for again, while all that came
    // from the giver before is still there.
    std::uint64_t number = 1;
    std::uint64_t purges = 0;  // of our store, when it was last asked
  };
  struct Batch {
    std::string content;
    std::string purges_done;
    tier::HoldingsVersion version;  // of the giver's, when it was made; older ones say none
    AskedAt asked;
    std::uint64_t purges_seen = 0;
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

  // Batch after batch, until one is empty.
  Task<Result<void>> move_all_from(const tier::Peer& giver) {
    net::Waiter waiter(core_.core);
    unsigned tried = 0;
    State& state = states_[giver.name];
    if (core_.shared.store.purge_count() != state.purges) state.number = 1;
    while (!core_.core.stopped()) {
      co_await wait_for_room(giver.name);
      const bool is_urgent = core_.shared.holders.is_draining(giver.name);
      const SteadyPoint due = pace_.next_batch(is_urgent);
      co_await net::nap_until(core_.core, due);
      const SteadyPoint asked = core_.core.clock().steady_now();
      state.purges = core_.shared.store.purge_count();
      auto batch = co_await ask(giver, state.number);
      if (!batch) co_return batch.error();
      if (batch->content.empty()) {
        ++state.number;
        break;
      }
      const auto content = read(*batch);
      if (!content) co_return content.error();
      pay_for(*batch, giver.name, asked);
      const Kept kept = keep(*content, *batch);
      if (kept == Kept::none && ++tried < limits::move_purge_tries) {
        co_await waiter.wait(core_.core.steady_now() + limits::move_purge_pause);
        continue;
      }
      for (const auto& mark : content->uncacheable) core_.shared.uncacheable.remember(mark);
      // It may still be asked for again, without what was taken back.
      if (!take(content->buckets, giver.name, batch->version)) break;
      tried = 0;
      ++state.number;
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
      if (!until || core_.core.stopped() || core_.shared.holders.is_draining(giver)) {
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

  Task<Result<Batch>> ask(const tier::Peer& giver, std::uint64_t number) {
    Batch batch;
    batch.asked = {core_.core.resident_now(), core_.core.steady_now()};
    batch.purges_seen = core_.shared.store.purge_count();
    PeerQuestion question;
    question.fields = fmt::format("{}: {} {}\r\n", http::internal::move, core_.shared.name, number);
    question.timeout = limits::move_timeout;
    const auto asked = co_await ask_peer(core_, giver, std::move(question));
    if (!asked) co_return asked.error();
    const http::Fields& fields = (*asked)->head().fields;
    batch.purges_done = fields.first(http::internal::purges_done).value_or(std::string_view{});
    // An older replica gives nothing.
    if (!fields.has(http::internal::move)) co_return batch;
    if (const auto said = fields.first(http::internal::holdings)) {
      const auto version = tier::parse_holdings_version(*said);
      if (!version) co_return version.error();
      batch.version = *version;
    }
    auto content =
        co_await content_of(**asked, batch_size_bytes_most,
                            limits::move_batch_size_bytes + limits::body_piece_size_bytes);
    if (!content) co_return content.error();
    batch.content = *std::move(content);
    co_return batch;
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
    bool is_taken = false;
    core_.shared.holders.change([&](tier::Authority& authority) {
      is_taken = !authority.is_taken_back(giver, version);
      for (const MovedBucket& given : buckets) {
        if (is_taken && given.epoch > 0) {
          authority.take(given.bucket, given.epoch, given.known_buckets);
        }
      }
    });
    return is_taken;
  }

  void pay_for(const Batch& batch, const std::string& giver, SteadyPoint asked) {
    const SteadyPoint now = core_.core.clock().steady_now();
    const std::size_t allowed_bytes_s = core_.settings->move_rate_mib_s * limits::kMiB;
    // A reload may have turned moving off since.
    if (allowed_bytes_s == 0) return;
    pace_.came(batch.content.size(), now - asked, allowed_bytes_s,
               core_.shared.holders.is_draining(giver), now);
  }

  CoreState& core_;
  net::Waiter waiter_;
  std::map<std::string, State> states_;
  std::size_t under_way_ = 0;
  SteadyPoint suspect_takers_at_{};
  MovePace pace_;
  MoveRoom room_;
};

struct Said {
  std::string name;
  std::uint64_t number = 0;
};

std::optional<Said> read_said(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos) return std::nullopt;
  Said said{std::string(text.substr(0, space))};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + space + 1, end, said.number);
  if (parsed.ec != std::errc{} || parsed.ptr != end || said.number == 0) return std::nullopt;
  return said;
}

// A shard may be of GiB, and the core has clients. A pause is the end of a turn: what is ready goes
// out (see Core::gather), and others get the lock.
Task<void> remove_by_steps(CoreState& core, std::string taker) {
  bool is_over = false;
  while (!is_over) {
    const SteadyPoint now = core.core.clock().steady_now();
    co_await net::nap_until(core.core, now + limits::move_remove_pause);
    is_over = core.core.stopped() || core.shared.source.remove_step(taker);
  }
}

}  // namespace

Task<void> move_buckets(CoreState& core) {
  const auto moves = std::make_shared<Moves>(core);
  co_await moves->run();
}

void answer_move(CoreState& core, std::string_view said, http::Response& response) {
  // Before the store is looked at: what is removed meanwhile is not done by this.
  const std::string done = core.shared.purges.done(core.core.steady_now());
  // Before anything is given, likewise: what is taken back later must be older than that.
  const tier::HoldingsVersion version = core.shared.holders.own_version();
  MovedBatch batch;
  const auto asked = read_said(said);
  if (asked) {
    batch = core.shared.source.batch(asked->name, asked->number,
                                     {core.core.resident_now(), core.core.steady_now()});
    if (core.shared.source.claim_removal(asked->name)) {
      core.core.spawn(remove_by_steps(core, asked->name));
    }
  }
  response.begin(200, http::reason_of(200));
  response.fields.add("Content-Length", fmt::format_int(batch.size_bytes()).c_str());
  http::add_date(response.fields, core.core.now());
  response.fields.add(http::internal::move, asked ? fmt::format_int(asked->number).c_str() : "0");
  response.fields.add(http::internal::holdings, tier::to_text(version));
  if (!done.empty()) response.fields.add(http::internal::purges_done, done);
  response.body = std::move(batch).body();
}

}  // namespace ringside::cache
