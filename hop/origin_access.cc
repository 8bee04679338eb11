#include "hop/origin_access.h"

#include <span>

#include "base/check.h"
#include "net/circuit_breaker.h"

namespace ringside::hop {
namespace {

using Outcome = net::CircuitBreaker::Outcome;

std::vector<std::uint32_t> weights_of(const std::vector<net::Origin>& origins) {
  std::vector<std::uint32_t> weights;
  weights.reserve(origins.size());
  for (const net::Origin& origin : origins) weights.push_back(origin.weight);
  return weights;
}

// Then the next origin is the first that the request costs anything, and this is no repeat.
bool was_never_sent(const Error& failure) noexcept {
  return failure.kind == ErrorKind::refused || failure.kind == ErrorKind::unresolved ||
         failure.kind == ErrorKind::untrusted;
}

// What an exchange's end tells about the origin.
Outcome outcome_of(const Result<void>& answered, Milliseconds given, Milliseconds fair_time) {
  if (answered) return Outcome::answered;
  if (net::is_failure(answered.error(), given, fair_time)) return Outcome::failed;
  // Bytes that are no HTTP are an answer, though a bad one. What a client or we ourselves did wrong
  // is none, nor is a wait that was cut short.
  const bool spoke =
      answered.error().source == ErrorSource::origin && answered.error().kind != ErrorKind::timeout;
  return spoke ? Outcome::answered : Outcome::undecided;
}

}  // namespace

OriginAccess::Choice::Choice(const std::vector<net::Origin>& origins)
    : weighted(weights_of(origins)) {}

std::shared_ptr<OriginAccess::Choice> OriginAccess::choice_of(
    const std::vector<net::Origin>& origins) {
  auto& choice = choices_[origins];
  if (!choice) {
    choice = std::make_shared<Choice>(origins);
    for (const net::Origin& origin : origins) choice->gates.push_back(gates_.at(origin.address));
  }
  return choice;
}

// The next one that would let the request in. Where none would, one is asked all the same, for what
// it has to say.
std::optional<std::size_t> OriginAccess::choose(Choice& choice, const Flags& untried,
                                                bool refusal_is_known) const {
  const std::size_t count = choice.gates.size();
  if (count == 1) return untried[0] ? std::optional<std::size_t>(0) : std::nullopt;
  const SteadyPoint now = core_.steady_now();
  Flags usable{};
  for (std::size_t index = 0; index < count; ++index) {
    usable[index] = untried[index] && choice.gates[index]->would_admit(now);
  }
  const auto chosen = choice.weighted.next(std::span(usable).first(count));
  if (chosen || refusal_is_known) return chosen;
  return choice.weighted.next(std::span(untried).first(count));
}

Task<Result<void>> OriginAccess::ask_one(const net::Origin& origin, net::OriginGate::Slot& slot,
                                         Exchange& exchange, const UpstreamRequest& request,
                                         const UpstreamLimits& limits) {
  const SteadyPoint began = core_.steady_now();
  auto answered = co_await exchange.ask(origin.address, request, limits);
  const SteadyPoint now = core_.steady_now();
  const auto given = std::chrono::duration_cast<Milliseconds>(now - began);
  slot.settle(outcome_of(answered, given, limits.connect_timeout), now,
              answered ? std::string() : answered.error().message);
  co_return answered;
}

Task<OriginAccess::Asked> OriginAccess::ask(const std::vector<net::Origin>& origins,
                                            Exchange& exchange, const UpstreamRequest& request,
                                            const UpstreamLimits& limits, const IpAddress& client) {
  RINGSIDE_CHECK(!origins.empty() && origins.size() <= limits::origins_per_route);
  const auto choice = choice_of(origins);
  budget_.count_request(core_.steady_now());
  Asked asked{Error{}, 0};
  Flags untried;
  untried.fill(true);
  bool failed = false;  // asked.answered says how
  while (const auto chosen = choose(*choice, untried, failed)) {
    const SteadyPoint now = core_.steady_now();
    if (asked.requests > 0) {
      const bool repeat = !was_never_sent(asked.answered.error());
      if (now >= limits.deadline || (repeat && !budget_.spend(now))) break;
    }
    untried[*chosen] = false;
    const auto attempt = co_await enter_and_ask(origins[*chosen], *choice->gates[*chosen], exchange,
                                                request, limits, client);
    // What an origin did is worth more to know than that another had no room.
    if (attempt.was_asked || asked.requests == 0) asked.answered = attempt.answered;
    if (attempt.was_asked) ++asked.requests;
    if (attempt.answered) break;
    failed = true;
    if (attempt.answered.error().retry == Retry::no) break;
  }
  co_return asked;
}

Task<OriginAccess::Attempt> OriginAccess::enter_and_ask(const net::Origin& origin,
                                                        net::OriginGate& gate, Exchange& exchange,
                                                        const UpstreamRequest& request,
                                                        const UpstreamLimits& limits,
                                                        const IpAddress& client) {
  std::shared_ptr<net::OriginGate::Tunnel> tunnel;
  if (request.upgrades) {
    auto opened = gate.open_tunnel(client);
    if (!opened) co_return Attempt{opened.error()};
    tunnel = *std::move(opened);
  }
  auto slot = co_await gate.enter(core_, limits.deadline, client);
  if (!slot) co_return Attempt{slot.error()};
  auto answered = co_await ask_one(origin, **slot, exchange, request, limits);
  Attempt attempt{std::move(answered), true};
  if (!attempt.answered) co_return attempt;
  if (tunnel && exchange.head().status == 101) {
    exchange.hold(std::move(tunnel));
  } else {
    exchange.hold(*std::move(slot));
  }
  co_return attempt;
}

}  // namespace ringside::hop
