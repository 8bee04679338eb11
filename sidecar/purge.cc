#include "sidecar/purge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>
#include <vector>

#include "http/error_response.h"
#include "http/exchange.h"
#include "http/internal_fields.h"
#include "http/spawn.h"

namespace ringside::sidecar {
namespace {

// How many stored responses the replica removed; an Error where it did not confirm.
http::Task<Result<std::size_t>> purge_one(CoreState& state, const Settings& settings,
                                          const Endpoint& address, const std::string& head,
                                          SteadyPoint deadline) {
  http::Exchange exchange(state.core, state.replicas);
  const http::ExchangeLimits limits{settings.connect_timeout, settings.first_byte_timeout,
                                    deadline};
  http::OutgoingRequest request;
  request.method = "PURGE";
  request.head = head;
  const auto answered = co_await exchange.ask(address, request, limits);
  if (!answered) co_return answered.error();
  if (exchange.head().status != 200) {
    co_return Error{ErrorKind::forbidden, ErrorSource::peer, Retry::no,
                    fmt::format("answered {}", exchange.head().status)};
  }
  const auto digits =
      exchange.head().fields.first(http::internal::purged).value_or(std::string_view{});
  std::size_t removed = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), removed);
  exchange.connection().set_deadline(deadline);
  while (!exchange.connection().body_done()) {
    if (!co_await exchange.connection().read_body()) break;
  }
  exchange.finish();
  co_return removed;
}

// All replicas are asked at once: one that is silent costs the deadline once, and those behind it
// nothing.
class Round {
 public:
  Round(CoreState& state, const Settings& settings, std::string head)
      : state_(state),
        settings_(settings),
        head_(std::move(head)),
        deadline_(state.core.steady_now() + settings.request_deadline),
        answers_(settings.addresses.size()),
        left_(answers_.size()),
        all_answered_(state.core.executor(), http::Timer::time_point::max()) {}

  // The answers, in the order of the members.
  http::Task<std::vector<Result<std::size_t>>> run() {
    for (std::size_t index = 0; index < answers_.size(); ++index) {
      http::spawn(state_.core.context(), ask(index));
    }
    // They refer to us, so they have to end first. They do: by their deadline, or the core's stop.
    while (left_ > 0) co_await all_answered_.async_wait(http::use_task);
    co_return std::move(answers_);
  }

 private:
  http::Task<void> ask(std::size_t index) {
    answers_[index] =
        co_await purge_one(state_, settings_, settings_.addresses[index], head_, deadline_);
    if (--left_ == 0) all_answered_.cancel();
  }

  CoreState& state_;
  const Settings& settings_;
  const std::string head_;
  const SteadyPoint deadline_;
  std::vector<Result<std::size_t>> answers_;
  std::size_t left_;
  http::Timer all_answered_;
};

}  // namespace

http::Task<PurgeReport> purge_replicas(CoreState& state, const Snapshot& snapshot,
                                       const std::string& host, const std::string& target) {
  const Settings& settings = *snapshot.settings;
  Round round(state, settings, fmt::format("PURGE {} HTTP/1.1\r\nHost: {}\r\n\r\n", target, host));
  const auto answers = co_await round.run();
  PurgeReport report;
  for (std::size_t index = 0; index < answers.size(); ++index) {
    const auto& removed = answers[index];
    if (removed) {
      report.removed += *removed;
    } else {
      report.missing.push_back(settings.topology->members()[index].name + ": " +
                               removed.error().message);
    }
  }
  // Last: until a replica has confirmed it may still give what is purged, and a near cache keep it.
  state.purges.fetch_add(1);
  co_return report;
}

std::string purge_response(const PurgeReport& report, bool keep_alive) {
  const int status = report.missing.empty() ? 200 : 502;
  std::string body = fmt::format("purged {} stored responses\n", report.removed);
  if (!report.missing.empty()) {
    body += fmt::format("incomplete, not confirmed by {}\n", fmt::join(report.missing, "; "));
  }
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{}\r\n{}",
      status, http::reason_of(status), body.size(), keep_alive ? "" : "Connection: close\r\n",
      body);
}

}  // namespace ringside::sidecar
