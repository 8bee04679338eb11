#include "sidecar/every_replica.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/join.h"
#include "http/internal_fields.h"

namespace ringside::sidecar {
namespace {

// What the replica says that it has removed.
Result<std::size_t> confirmation(const http::ResponseHead& answer) {
  if (answer.status != 200) {
    return Error{ErrorKind::forbidden, ErrorSource::peer, Retry::no,
                 fmt::format("answered {}", answer.status)};
  }
  const auto digits = answer.fields.first(http::internal::purged).value_or(std::string_view{});
  const char* const end = digits.data() + digits.size();
  std::size_t removed = 0;
  const auto parsed = std::from_chars(digits.data(), end, removed);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
                 "answered without saying what it removed"};
  }
  return removed;
}

Task<Result<std::size_t>> ask_one(CoreState& state, const Settings& settings,
                                  const Endpoint& address, const hop::UpstreamRequest& request,
                                  SteadyPoint deadline) {
  if (address.host.empty()) {
    co_return Error{ErrorKind::refused, ErrorSource::peer, Retry::no, "has no address at present"};
  }
  const auto exchange = state.replicas->exchange();
  const hop::UpstreamLimits limits{settings.connect_timeout, settings.first_byte_timeout, deadline,
                                   deadline};
  const auto answered = co_await exchange->ask(address, request, limits);
  if (!answered) co_return answered.error();
  auto confirmed = confirmation(exchange->head());
  for (bool last = false; !last;) {  // so that the connection can be used again
    const auto pulled = co_await exchange->pull();
    last = !pulled || pulled->last;
  }
  co_return confirmed;
}

class Round {
 public:
  Round(CoreState& state, const Settings& settings, const hop::UpstreamRequest& request,
        SteadyPoint deadline)
      : state_(state),
        settings_(settings),
        request_(request),
        deadline_(deadline),
        answers_(settings.membership->size()) {}

  Task<std::vector<Result<std::size_t>>> run(std::optional<shard::MemberIndex> but_not) {
    for (std::size_t index = 0; index < answers_.size(); ++index) {
      if (index == but_not) continue;
      asked_.begin();
      state_.core.spawn(ask(index));
    }
    // They refer to us, so they have to end first. They do: by their deadline, or the core's stop.
    co_await asked_;
    co_return std::move(answers_);
  }

 private:
  Task<void> ask(std::size_t index) {
    hop::UpstreamRequest request = request_;
    request.peer = settings_.membership->topology->members()[index].name;
    answers_[index] = co_await ask_one(state_, settings_, settings_.membership->addresses[index],
                                       request, deadline_);
    asked_.end();
  }

  CoreState& state_;
  const Settings& settings_;
  const hop::UpstreamRequest& request_;
  const SteadyPoint deadline_;
  std::vector<Result<std::size_t>> answers_;
  Join asked_;
};

}  // namespace

Task<std::vector<Result<std::size_t>>> ask_every_replica(
    CoreState& state, const Settings& settings, const hop::UpstreamRequest& request,
    SteadyPoint deadline, std::optional<shard::MemberIndex> but_not) {
  Round round(state, settings, request, deadline);
  co_return co_await round.run(but_not);
}

}  // namespace ringside::sidecar
