#include "cache/holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "cache/peer_exchange.h"
#include "http/internal_fields.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

using Way = tier::Authority::Way;
using metrics::HolderAnswer;

void count(CoreState& core, HolderAnswer answer) {
  core.sheet.count("ringside_holder_requests_total", answer);
}

// Who holds the bucket. Waits until all that may hold it have been heard. Way::unknown: they were
// not in time.
Task<tier::Authority::Direction> find_holder(CoreState& core, shard::Bucket bucket,
                                             SteadyPoint deadline) {
  net::Waiter waiter(core.core);
  while (true) {
    auto direction = core.shared.holders.direction(bucket, waiter.bell());
    if (direction.way != Way::unknown) co_return direction;
    const bool woken = co_await waiter.wait(deadline);
    if (woken) continue;
    count(core, HolderAnswer::unknown);
    co_return direction;
  }
}

// One request at a holder that may be slow because its origin is, or because it is not there any
// more: the talk with it (cache/peer_talk.h) tells one from the other.
class Patience {
 public:
  Patience(CoreState& core, std::string holder, hop::Exchange& exchange)
      : state_(std::make_shared<State>(core, std::move(holder), exchange)) {
    core.core.spawn(watch(state_));
  }
  ~Patience() {
    state_->exchange = nullptr;
    state_->waiter.bell()->wake();
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  struct State {
    State(CoreState& the_core, std::string name, hop::Exchange& asked)
        : core(the_core), holder(std::move(name)), exchange(&asked), waiter(the_core.core) {}
    CoreState& core;
    const std::string holder;
    hop::Exchange* exchange;  // null: the request is over
    net::Waiter waiter;
  };

  static Task<void> watch(std::shared_ptr<State> state) {
    net::Core& core = state->core.core;
    Holders& holders = state->core.shared.holders;
    Milliseconds pause = limits::suspicion_after;
    while (!core.stopped()) {
      co_await state->waiter.wait(core.steady_now() + pause);
      if (state->exchange == nullptr) co_return;
      if (holders.is_unreachable(state->holder)) co_return state->exchange->give_up();
      holders.change([&](tier::Authority& authority) { authority.suspect(state->holder); });
      pause = limits::probe_interval;
    }
  }

  std::shared_ptr<State> state_;
};

// What a refusal says: who is to be asked, and where that is us the epoch that we are given, and in
// which version of the giver's holdings. (Older replicas say no version.)
struct Refusal {
  std::string holder;
  tier::Epoch given = 0;
  tier::HoldingsVersion version{};
};

Refusal read_refusal(std::string_view said, std::string_view own_name) {
  const std::size_t space = said.find(' ');
  Refusal refusal{std::string(said.substr(0, space))};
  if (space == std::string_view::npos || refusal.holder != own_name) return refusal;
  const char* const end = said.data() + said.size();
  const auto epoch = std::from_chars(said.data() + space + 1, end, refusal.given);
  if (refusal.given > limits::epoch_most) refusal.given = 0;  // none that holdings may say
  if (epoch.ptr == end) return refusal;
  const auto version = tier::parse_holdings_version({epoch.ptr + 1, end});
  if (version) refusal.version = *version;
  return refusal;
}

// An error of the holder's own making; nullopt: it answered.
std::optional<Error> own_error(const http::ResponseHead& head) {
  const auto outcome = head.fields.first(http::internal::outcome);
  if (outcome != metrics::name(metrics::Outcome::error)) return std::nullopt;
  const auto detail = head.fields.first(http::internal::detail).value_or(std::string_view{});
  Error error{ErrorKind::internal, ErrorSource::origin, Retry::no, std::string(detail)};
  if (head.status == 502) error.kind = ErrorKind::disconnected;
  if (head.status == 503) error.kind = ErrorKind::circuit_open;
  if (head.status == 504) error.kind = ErrorKind::timeout;
  return error;
}

// No origin answered it.
bool is_of_origin(const Error& error) noexcept { return error.kind != ErrorKind::internal; }

metrics::Outcome outcome_of(const http::ResponseHead& head) {
  const auto text = head.fields.first(http::internal::outcome).value_or(std::string_view{});
  const auto outcome = metrics::outcome_from(text);
  return outcome && metrics::is_hit(*outcome) ? metrics::Outcome::peer_fill
                                              : metrics::Outcome::miss;
}

using Answer = Result<std::unique_ptr<hop::Exchange>>;

// The walk over those that may hold the bucket of one request.
class Walk {
 public:
  Walk(CoreState& core, const Settings& settings, shard::Bucket bucket, SteadyPoint deadline,
       hop::UpstreamRequest request, FillNotes& notes)
      : core_(core),
        holders_(core.shared.holders),
        settings_(settings),
        bucket_(bucket),
        deadline_(deadline),
        patience_(std::min(deadline, core.core.steady_now() + limits::holdings_patience)),
        request_(request),
        notes_(notes),
        waiter_(core.core) {
    request_.reads_fields = true;
  }

  // Null: the origin is to be asked.
  Task<Answer> run() {
    for (unsigned tried = 0; tried < limits::holders_tried; ++tried) {
      if (!next_) {
        auto direction = co_await find_holder(core_, bucket_, patience_);
        if (direction.way == Way::unknown) notes_.was_let_down = true;
        if (direction.way != Way::holder) co_return nullptr;
        next_ = std::move(direction.holder);
      }
      const tier::Peer holder = *std::exchange(next_, std::nullopt);
      co_await wait_for_number();
      is_its_taker_ = std::exchange(names_its_taker_, false);
      names_us_ = taker_is_gone_ = is_undecided_ = is_behind_ = false;
      asked_.push_back(holder.name);
      auto answered = co_await ask(holder);
      if (is_over_) notes_.was_let_down = true;
      if (!answered || *answered != nullptr || is_over_) co_return answered;
      // One of two, of which we may be one, has given it to the other: that one has not heard of
      // it yet. Or the other one is gone, and who gave it has not noticed yet. Or its taker has not
      // heard all the others yet. Or a purge is on its way to the holder.
      const bool is_soon_known = names_us_ || taker_is_gone_ || is_undecided_ || is_behind_ ||
                                 (next_ && was_asked(next_->name));
      const SteadyPoint until = is_behind_ ? purges_patience_ : patience_;
      if (is_soon_known && core_.core.steady_now() < until) {
        co_await waiter_.wait(std::min(core_.core.steady_now() + pause_, until));
        pause_ *= 2;
        tried = 0;
      }
    }
    if (!holders_.answers_for(bucket_)) notes_.was_let_down = true;
    co_return nullptr;
  }

 private:
  [[nodiscard]] bool was_asked(const std::string& name) const {
    return std::find(asked_.begin(), asked_.end(), name) != asked_.end();
  }

  // Null: this one leads nowhere.
  Task<Answer> ask(const tier::Peer& holder) {
    request_.peer = holder.name;
    // What begins later is minded by the flight.
    const auto begun = core_.shared.purges.begun(core_.core.steady_now());
    const Milliseconds wait = settings_.first_byte_timeout + limits::replica_answer_allowance;
    const SteadyPoint last = std::min(core_.core.steady_now() + wait, deadline_);
    const hop::UpstreamLimits limits{settings_.connect_timeout, wait, last};
    auto exchange = core_.peers->exchange();
    Result<void> answered;
    {
      const Patience patience(core_, holder.name, *exchange);
      answered = co_await exchange->ask(holder.address, request_, limits);
    }
    if (!answered) {
      count(core_, HolderAnswer::failed);
      notes_.was_let_down = true;
      core_.sheet.count_error(answered.error());
      // It is there, and waits for its origin still.
      const bool was_given_time = core_.core.steady_now() >= last;
      if (was_given_time && !holders_.is_unreachable(holder.name)) co_return answered.error();
      holders_.change([&](tier::Authority& authority) { authority.doubt(holder.name); });
      taker_is_gone_ = is_its_taker_;
      co_return nullptr;
    }
    const http::ResponseHead& head = exchange->head();
    hear_topology(core_, head);
    const auto other =
        head.status == 421 ? head.fields.first(http::internal::holder) : std::nullopt;
    const bool is_heeded = head.fields.has(http::internal::outcome);
    if (other || !is_heeded) {
      is_undecided_ = other == http::internal::undecided_holder;
      heed(holder, read_refusal(other.value_or(http::internal::no_holder), core_.shared.name));
      co_return nullptr;
    }
    count(core_, HolderAnswer::answered);
    if (const auto own = own_error(head)) {
      // It is of another opinion of the request than we are: it has other settings yet, or lost
      // the bucket just now.
      is_over_ = !is_of_origin(*own);
      if (is_over_) co_return nullptr;
      co_return *own;
    }
    const auto done = head.fields.first(http::internal::purges_done).value_or(std::string_view{});
    // It has not heard of all purges that we have: what it gives may be what they remove.
    if (!tier::are_done(begun, done)) {
      // What it has just fetched is not asked for again: that may cost its origin as much.
      const bool is_stored_there = outcome_of(head) == metrics::Outcome::peer_fill;
      is_over_ = !is_stored_there || !wait_for_purges(holder);
      co_return nullptr;
    }
    core_.behind_until.erase(holder.name);
    notes_.outcome = outcome_of(head);
    const auto beyond = head.fields.first(http::internal::age_beyond).value_or(std::string_view{});
    notes_.is_passing = head.fields.has(http::internal::unknown_asker);
    notes_.age_beyond = std::min(milliseconds_in(beyond, {}), Milliseconds{Seconds{1}});
    co_return std::move(exchange);
  }

  // Something was removed here whose number is told in a moment: until then nobody is known to have
  // done it.
  Task<void> wait_for_number() {
    const SteadyPoint until =
        std::min(core_.core.steady_now() + limits::purges_patience, patience_);
    // A core that stops waits no more, and its time stands still.
    while (!core_.core.stopped() && core_.core.steady_now() < until &&
           core_.shared.purges.awaits_number(core_.core.steady_now())) {
      co_await waiter_.wait(std::min(core_.core.steady_now() + limits::deadline_tick, until));
    }
  }

  // A purge is told to all at once: most often it arrives there in a moment. Where it does not,
  // each holder costs a core one wait, not one a request. False: nobody waits for it (any more).
  bool wait_for_purges(const tier::Peer& holder) {
    const SteadyPoint now = core_.core.steady_now();
    if (core_.shared.purges.awaits_number(now)) return false;  // that is not the holder's
    if (purges_patience_ == SteadyPoint()) {
      purges_patience_ = std::min(now + limits::purges_patience, patience_);
    }
    const auto row = core_.behind_until.find(holder.name);
    const bool is_waited_for = row == core_.behind_until.end() || row->second <= now;
    is_behind_ = is_waited_for && now < purges_patience_;
    if (is_behind_) {
      next_ = holder;
    } else if (is_waited_for) {
      if (core_.behind_until.size() >= limits::replicas_remembered) core_.behind_until.clear();
      core_.behind_until[holder.name] = now + limits::purges_patience_pause;
    }
    return is_behind_;
  }

  void heed(const tier::Peer& holder, const Refusal& refusal) {
    bool is_given = refusal.given > 0;
    holders_.change([&](tier::Authority& authority) {
      is_given = is_given && !authority.is_taken_back(holder.name, refusal.version);
      if (is_given) {
        is_given = authority.take(bucket_, refusal.given, holder.name);
        return;
      }
      names_us_ = refusal.holder == core_.shared.name;
      if (names_us_) return;
      if (is_undecided_) return authority.denies(holder.name, bucket_);
      const bool is_holder = authority.has_said_to_hold(holder.name, bucket_);
      next_ = authority.peer(refusal.holder);
      names_its_taker_ = next_ && is_holder;
      if (next_) return;
      // A holder has given the bucket to whom it names, and will soon notice that this one is gone.
      // One that is no holder may reach it for as long as we don't.
      taker_is_gone_ = is_holder && authority.knows(refusal.holder);
      if (taker_is_gone_) return authority.suspect(holder.name);
      authority.doubt(holder.name);
    });
    count(core_, is_given ? HolderAnswer::gave : HolderAnswer::refused);
  }

  CoreState& core_;
  Holders& holders_;
  const Settings& settings_;
  const shard::Bucket bucket_;
  const SteadyPoint deadline_;
  const SteadyPoint patience_;  // for who may hold it to say so
  hop::UpstreamRequest request_;
  FillNotes& notes_;
  bool is_over_ = false;
  std::vector<std::string> asked_;
  net::Waiter waiter_;
  Milliseconds pause_ = limits::deadline_tick;
  std::optional<tier::Peer> next_;  // whom a refusal has named
  bool names_its_taker_ = false;    // it was the holder's
  bool is_its_taker_ = false;       // who is asked now is the one whom the holder has named
  bool names_us_ = false;           // the last refusal
  bool taker_is_gone_ = false;      // to whom the holder has given it
  bool is_undecided_ = false;       // who was asked may be the holder soon
  bool is_behind_ = false;          // it has not heard of a purge yet
  SteadyPoint purges_patience_{};   // for that, since the first that was
};

}  // namespace

Task<Answer> ask_holder(CoreState& core, const Settings& settings, const http::RequestHead& request,
                        const RequestContext& context, const Asking& asking,
                        Milliseconds time_allowed, hop::UpstreamRequest outgoing,
                        FillNotes& notes) {
  const auto bucket = context.key.bucket;
  const Holders& holders = core.shared.holders;
  if (!bucket || holders.answers_for(*bucket)) co_return nullptr;
  if (context.fills_peer) {
    co_return Error{ErrorKind::refused, ErrorSource::ourselves, Retry::no,
                    "another replica holds the bucket by now"};
  }
  const FillAsking fill{core.identity.via, core.shared.name, time_allowed};
  http::FieldLines fields;
  write_holder_fields(fields, request, context, settings, fill, asking);
  outgoing.target = &context.target;
  outgoing.host = context.host;
  outgoing.fields = fields.text();
  Walk walk(core, settings, *bucket, core.core.steady_now() + time_allowed, outgoing, notes);
  ++core.fills;
  auto answered = co_await walk.run();
  --core.fills;
  notes.was_looked_for = true;
  const bool may_keep = holders.may_keep(*bucket, notes.outcome.has_value());
  notes.is_passing = notes.is_passing || !may_keep;
  co_return answered;
}

}  // namespace ringside::cache
