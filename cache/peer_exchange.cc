#include "cache/peer_exchange.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "base/log.h"
#include "http/internal_fields.h"

namespace ringside::cache {

Task<Result<std::unique_ptr<hop::Exchange>>> ask_peer(CoreState& core, tier::Peer peer,
                                                      PeerQuestion question) {
  const auto& membership = core.settings->membership;
  if (question.host.empty()) question.host = peer.address.text();
  if (question.method == "OPTIONS") question.fields += "Max-Forwards: 0\r\n";
  const auto news = core.shared.own_purges.news(peer.name);
  if (news) {
    question.fields +=
        fmt::format("{}: {} {}\r\n{}: {}\r\n", http::internal::missed, news->last.issuer,
                    news->number, http::internal::purges_done, tier::to_text(news->last));
  }
  question.fields += fmt::format(
      "{}: {}\r\n", http::internal::topology,
      membership ? std::string_view(membership->topology_id) : http::internal::no_topology);
  hop::UpstreamRequest request;
  request.method = question.method;
  request.target = &question.target;
  request.host = question.host;
  request.fields = question.fields;
  request.peer = peer.name;
  request.reads_fields = true;
  const SteadyPoint deadline = core.core.steady_now() + question.timeout;
  const hop::UpstreamLimits limits{limits::probe_timeout, question.timeout, deadline, deadline};
  auto exchange = core.peers->exchange();
  const auto answered = co_await exchange->ask(peer.address, request, limits);
  if (!answered) co_return answered.error();
  hear_topology(core, exchange->head());
  const auto heeded = exchange->head().fields.first(http::internal::heeded);
  if (news && heeded == fmt::to_string(news->number)) {
    core.shared.own_purges.heeded(peer.name, news->number);
  }
  const int status = exchange->head().status;
  if (status / 100 != 2) {
    co_return Error{ErrorKind::overloaded, ErrorSource::peer, Retry::no,
                    fmt::format("it answered {}", status)};
  }
  co_return std::move(exchange);
}

void hear_topology(CoreState& core, const http::ResponseHead& head) {
  const auto said = head.fields.first(http::internal::topology);
  if (said) core.shared.topologies.hear(*said, core.core.steady_now());
}

Task<Result<std::string>> content_of(hop::Exchange& exchange, std::size_t most_bytes,
                                     std::size_t usual_bytes) {
  std::string content;
  for (bool last = false; !last;) {
    const auto pulled = co_await exchange.pull();
    if (!pulled) co_return pulled.error();
    last = pulled->last;
    if (content.empty() && !last) content.reserve(usual_bytes);
    for (const std::string_view piece : pulled->pieces) content.append(piece);
    if (content.size() > most_bytes) {
      co_return Error{ErrorKind::body_too_large, ErrorSource::peer, Retry::no,
                      "what it says is too long"};
    }
  }
  co_return content;
}

void complain(CoreState& core, std::string_view what) {
  const auto held_back = core.peer_complaints.next(core.core.steady_now());
  if (!held_back) return;
  log::warning("{}{}", what,
               *held_back == 0 ? "" : fmt::format(" ({} such lines before this one)", *held_back));
}

void tell_of_peer(CoreState& core, const tier::Peer& peer, std::string_view what,
                  const Error& error) {
  const std::string line =
      fmt::format("{}: {} {}: {}", core.shared.name, peer.name, what, error.message);
  const bool is_odd = error.kind == ErrorKind::malformed || error.kind == ErrorKind::body_too_large;
  if (!is_odd) return log::write(log::Level::debug, line);
  complain(core, line + "; replicas of one tier should be of one version");
}

}  // namespace ringside::cache
