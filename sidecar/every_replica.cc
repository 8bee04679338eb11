#include "sidecar/every_replica.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/join.h"
#include "http/internal_fields.h"

namespace ringside::sidecar {
namespace {

// What the replica says that it has removed.
Result<Confirmation> confirmation(const http::ResponseHead& answer, std::string_view method) {
  if (answer.status == 403) {
    return Error{ErrorKind::forbidden, ErrorSource::peer, Retry::no,
                 method == "PURGE" ? "takes no purges from this sidecar; give it --purge-from with "
                                     "this sidecar's address"
                                   : "answered 403"};
  }
  if (answer.status != 200) {
    return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
                 fmt::format("answered {}", answer.status)};
  }
  const auto digits = answer.fields.first(http::internal::purged).value_or(std::string_view{});
  const char* const end = digits.data() + digits.size();
  Confirmation confirmed;
  const auto parsed = std::from_chars(digits.data(), end, confirmed.removed);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
                 "answered without saying what it removed"};
  }
  for (const http::Field& field : answer.fields) {
    if (!http::same_token(field.name, http::internal::not_relayed)) continue;
    confirmed.not_relayed.emplace_back(field.value);
  }
  return confirmed;
}

Error not_asked(std::string why) {
  return {ErrorKind::refused, ErrorSource::peer, Retry::no, std::move(why)};
}

class Round {
 public:
  Round(CoreState& state, const Snapshot& snapshot, const hop::UpstreamRequest& request,
        const tier::PurgeNumber& purge, const std::optional<ToOne>& to_one, SteadyPoint deadline)
      : state_(state),
        snapshot_(snapshot),
        settings_(*snapshot.settings),
        request_(request),
        fields_(numbered(request.fields, purge)),
        to_one_(to_one ? std::optional(to_one->member) : std::nullopt),
        fields_to_one_(to_one ? numbered(to_one->fields, purge) : std::string()),
        deadline_(deadline),
        answers_(settings_.membership->size()) {}

  Task<std::vector<Result<Confirmation>>> run() {
    for (shard::MemberIndex index = 0; index < answers_.size(); ++index) {
      asked_.begin();
      state_.core.spawn(ask(index));
    }
    // They refer to us, so they have to end first. They do: by their deadline, or the core's stop.
    co_await asked_;
    state_.shared.missed.miss_all_but(snapshot_.missed);
    state_.health.has_news();
    co_return std::move(answers_);
  }

 private:
  static std::string numbered(std::string_view fields, const tier::PurgeNumber& purge) {
    return fmt::format("{}{}: {}\r\n{}: {}\r\n", fields, http::internal::purge,
                       tier::to_text(purge), http::internal::purge_settled,
                       purge.settled.value_or(purge.number - 1));
  }

  Task<void> ask(shard::MemberIndex index) {
    answers_[index] = co_await ask_one(index);
    const auto& answer = answers_[index];
    if (!answer && answer.error().kind != ErrorKind::forbidden) snapshot_.missed[index]->miss();
    asked_.end();
  }

  Task<Result<Confirmation>> ask_one(shard::MemberIndex index) {
    if (!settings_.membership->is_somewhere(index))
      co_return not_asked("has no address at present");
    if (state_.health.is_ejected(settings_, index)) co_return not_asked("does not answer");
    if (snapshot_.missed[index]->has_news()) {
      co_return not_asked("has not heard yet of what it has missed");
    }
    hop::UpstreamRequest request = request_;
    request.fields = index == to_one_ ? fields_to_one_ : fields_;
    request.peer = settings_.membership->name(index);
    const auto exchange = state_.replicas->exchange();
    const hop::UpstreamLimits limits{settings_.connect_timeout, settings_.first_byte_timeout,
                                     deadline_, deadline_};
    HealthWatch::Ask asked(state_.health, settings_, index, *exchange,
                           HealthWatch::BreakOff::always);
    const auto answered =
        co_await exchange->ask(settings_.membership->address(index), request, limits);
    asked.end(answered);
    if (!answered) co_return answered.error();
    auto confirmed = confirmation(exchange->head(), request.method);
    // Nothing was to be removed: an older replica, which knows no numbers, has missed nothing.
    if (index == to_one_ && exchange->head().status == 200) confirmed = Confirmation{};
    for (bool last = false; !last;) {  // so that the connection can be used again
      const auto pulled = co_await exchange->pull();
      last = !pulled || pulled->last;
    }
    co_return confirmed;
  }

  CoreState& state_;
  const Snapshot& snapshot_;
  const Settings& settings_;
  const hop::UpstreamRequest& request_;
  const std::string fields_;
  const std::optional<shard::MemberIndex> to_one_;
  const std::string fields_to_one_;
  const SteadyPoint deadline_;
  std::vector<Result<Confirmation>> answers_;
  Join asked_;
};

}  // namespace

Task<std::vector<Result<Confirmation>>> ask_every_replica(
    CoreState& state, const Snapshot& snapshot, const hop::UpstreamRequest& request,
    const tier::PurgeNumber& purge, SteadyPoint deadline, const std::optional<ToOne>& to_one) {
  Round round(state, snapshot, request, purge, to_one, deadline);
  co_return co_await round.run();
}

}  // namespace ringside::sidecar
