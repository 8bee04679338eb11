#include "sidecar/forwarding.h"

#include <vector>

#include "base/limits.h"
#include "sidecar/messages.h"

namespace ringside::sidecar {

Forwarding::Forwarding(CoreState& state, const Snapshot& snapshot, const Decision& decision)
    : state_(state),
      settings_(*snapshot.settings),
      decision_(decision),
      deadline_(state.core.steady_now() + settings_.request_deadline) {}

http::Task<Result<void>> Forwarding::ask(const Endpoint& address, http::Pool& pool,
                                         const http::OutgoingRequest& outgoing) {
  exchange_.emplace(state_.core, pool);
  const http::ExchangeLimits limits{settings_.connect_timeout, settings_.first_byte_timeout,
                                    deadline_};
  co_return co_await exchange_->ask(address, outgoing, limits);
}

http::Task<Result<void>> Forwarding::ask_owners(const http::OutgoingRequest& outgoing) {
  const shard::Topology& topology = *settings_.topology;
  Error nobody{ErrorKind::no_replica, ErrorSource::ourselves, Retry::yes, "no replica"};
  if (topology.members().empty()) co_return nobody;

  shard::MemberIndex owner = topology.owner(decision_.key());
  std::vector<shard::MemberIndex> owners;  // only a failure needs the order of preference
  for (std::size_t tried = 1;; ++tried) {
    const auto answered = co_await ask(settings_.addresses[owner], state_.replicas, outgoing);
    if (answered) {
      answered_by_ = owner;
      co_return answered;
    }
    if (answered.error().retry == Retry::no) co_return answered.error();
    state_.sheet.count_error(answered.error().source);
    // A wait that ran out is another thing than nobody to ask: 504, not 503.
    if (answered.error().kind == ErrorKind::timeout) nobody.kind = ErrorKind::timeout;
    nobody.message += "; " + topology.members()[owner].name + ": " + answered.error().message;
    if (owners.empty()) topology.owners(decision_.key(), limits::owners_tried, owners);
    if (tried >= owners.size() || state_.core.steady_now() >= deadline_) co_return nobody;
    owner = owners[tried];
    state_.sheet.count_retry();
  }
}

http::Task<Result<void>> Forwarding::run(const http::RequestHead& request, http::Connection& client,
                                         std::string& head) {
  http::OutgoingRequest outgoing;
  outgoing.method = decision_.method;
  if (request.framing.kind != http::Framing::Kind::none) {
    outgoing.body = &client;
    outgoing.tell_to_continue = request.expects_continue;
    if (request.framing.kind == http::Framing::Kind::chunked) {
      outgoing.body_coding = http::Coding::chunked;
    }
  }
  const auto& origin = decision_.route->origin;
  const bool origin_allowed =
      settings_.without_replica == WithoutReplica::ask_origin && origin.has_value();

  write_upstream_head(head, request, decision_, settings_, Upstream::replica);
  outgoing.head = head;
  const auto answered = co_await ask_owners(outgoing);
  if (answered || answered.error().retry == Retry::no || !origin_allowed) co_return answered;

  write_upstream_head(head, request, decision_, settings_, Upstream::origin);
  outgoing.head = head;
  const auto direct = co_await ask(*origin, state_.origins, outgoing);
  using Answer = metrics::OriginAnswer;
  state_.sheet.count_origin_request(direct ? metrics::origin_answer(exchange_->head().status)
                                           : Answer::failed);
  co_return direct;
}

}  // namespace ringside::sidecar
