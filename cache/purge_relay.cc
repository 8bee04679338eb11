#include "cache/purge_relay.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/join.h"
#include "base/limits.h"
#include "base/log.h"
#include "cache/cache_key.h"
#include "cache/emptying.h"
#include "cache/invalidation.h"
#include "cache/peer_exchange.h"
#include "http/field_lines.h"
#include "http/internal_fields.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

using Among = tier::Authority::Among;
using Scope = http::PurgeTarget::Scope;

// One that goes on to some peers.
class Relay {
 public:
  Relay(CoreState& core, const tier::PurgeNumber& number, Milliseconds patience)
      : core_(core), until_(core.core.steady_now() + patience) {
    fields.add(http::internal::relayed, core.shared.name);
    fields.add(http::internal::purge, tier::to_text(number));
    if (number.settled) {
      fields.add(http::internal::purge_settled, fmt::format_int(*number.settled).c_str());
    }
  }

  // The names of those who have not confirmed it.
  Task<std::vector<std::string>> run(const std::vector<tier::Peer>& peers) {
    for (const tier::Peer& peer : peers) {
      asked_.begin();
      core_.core.spawn(ask_again_and_again(peer));
    }
    co_await asked_;
    co_return std::move(missing_);
  }

  std::string method = "OPTIONS";
  http::Target target{"*", {}, false};
  std::string host;
  http::FieldLines fields;

 private:
  Task<void> ask_again_and_again(tier::Peer peer) {
    net::Waiter waiter(core_.core);
    bool is_confirmed = false;
    for (unsigned tried = 0; tried < limits::relay_tries && !is_confirmed; ++tried) {
      const SteadyPoint next = core_.core.steady_now() + limits::relay_pause;
      if (tried > 0 && next >= until_) break;
      if (tried > 0) co_await waiter.wait(next);
      if (core_.core.stopped() || core_.core.steady_now() >= until_) break;
      is_confirmed = co_await ask(peer);
    }
    if (!is_confirmed) {
      log::warning("{}: {} has not confirmed a purge that was passed on to it", core_.shared.name,
                   peer.name);
      missing_.push_back(peer.name);
    }
    asked_.end();
  }

  Task<bool> ask(const tier::Peer& peer) {
    PeerQuestion question;
    question.method = method;
    question.target = target;
    question.host = host;
    question.fields = fields.text();
    const auto left = std::chrono::floor<Milliseconds>(until_ - core_.core.steady_now());
    question.timeout = std::min(limits::invalidation_timeout, left);
    const auto asked = co_await ask_peer(core_, peer, std::move(question));
    if (!asked) co_return false;
    const auto content = co_await content_of(**asked, limits::kMiB);
    co_return content;
  }

  CoreState& core_;
  const SteadyPoint until_;
  Join asked_;
  std::vector<std::string> missing_;
};

// They are asked soon whether they are still there, so that nobody waits for them for long.
void suspect(CoreState& core, const std::vector<std::string>& missing) {
  if (missing.empty()) return;
  core.shared.holders.change([&](tier::Authority& authority) {
    for (const std::string& name : missing) authority.suspect(name);
  });
}

// A purge of our own goes to all peers. Who has not confirmed it is asked for its holdings as soon
// as it can be reached, and is told so with that. Returns the names of those.
Task<std::vector<std::string>> tell_all(CoreState& core, Relay& relay) {
  const Holders::Peers peers = core.shared.holders.peers();
  std::vector<std::string> missing = peers.unreachable;
  for (std::string& name : co_await relay.run(peers.reachable)) missing.push_back(std::move(name));
  for (const std::string& name : missing) core.shared.own_purges.missed(name);
  suspect(core, missing);
  co_return missing;
}

// What the sidecar follows.
bool is_of_our_topology(const Transaction& transaction) {
  const auto& membership = transaction.settings->membership;
  const auto said = transaction.request->fields.first(http::internal::topology);
  return membership && said == std::string_view(membership->topology_id);
}

}  // namespace

Task<std::vector<std::string>> relay(const Transaction& transaction, Milliseconds patience) {
  const http::Fields& fields = transaction.request->fields;
  const RequestContext& context = transaction.context;
  const bool is_purge = context.method == "PURGE";
  // Who has removed it by itself may be the only one that knows a leaver: it has just given it
  // something, and the others have forgotten it.
  const bool removes =
      is_purge || fields.has(http::internal::invalidate) || fields.has(http::internal::invalidated);
  const bool is_to_go_on = context.purge && removes && !fields.has(http::internal::relayed);
  if (!is_to_go_on) co_return std::vector<std::string>();
  CoreState& core = transaction.core;
  const bool is_same = is_of_our_topology(transaction);
  const auto peers = core.shared.holders.reachable(is_same ? Among::leavers : Among::all);
  if (peers.empty()) co_return std::vector<std::string>();

  Relay relay(core, *context.purge, patience);
  if (is_purge) relay.target = context.target;
  if (is_purge) relay.method = context.method;
  relay.host = is_purge ? context.host : std::string(transaction.request->host);
  for (const http::Field& field : fields) {
    if (http::same_token(field.name, http::internal::purge_below)) {
      relay.fields.add(field.name, field.value);
    } else if (http::same_token(field.name, http::internal::invalidate) ||
               http::same_token(field.name, http::internal::invalidated)) {
      relay.fields.add(http::internal::invalidate, field.value);
    }
  }
  auto missing = co_await relay.run(peers);
  suspect(core, missing);
  co_return missing;
}

bool is_told_by_sidecar(const Transaction& transaction) {
  return is_of_our_topology(transaction) && transaction.settings->membership->size() > 1;
}

bool is_asked_as_only_member(const Transaction& transaction) {
  return is_of_our_topology(transaction) && transaction.settings->membership->size() == 1;
}

http::PurgeTarget purged_by(const Transaction& transaction) {
  const RequestContext& context = transaction.context;
  auto purged = http::PurgeTarget::of_request(context.host, context.target.text());
  const auto below = transaction.request->fields.first(http::internal::purge_below);
  if (below && purged.scope == Scope::everything) {
    purged = {Scope::below, context.host, std::string(*below)};
  }
  return purged;
}

Task<PurgeReport> purge_everywhere(CoreState& core, http::PurgeTarget purged) {
  PurgeReport report;
  http::PurgeTarget stored = purged;
  if (purged.scope == Scope::uri) {
    auto target = stored_path_and_query(*core.settings, purged.host, purged.path_and_query);
    if (!target) co_return report;
    stored.path_and_query = *std::move(target);
  }
  const OwnPurges::Issued purge(core.shared.own_purges);
  {
    const PurgeLog::Applying applying(core.shared.purges, purge.number(), core.core.steady_now());
    report.removed = co_await purge_by_steps(core, purged_prefix(stored));
  }
  Relay relay(core, purge.number(), patience_of_all_tries);
  relay.method = "PURGE";
  relay.host = purged.host;
  if (purged.scope == Scope::uri) relay.target = {purged.path_and_query, {}, false};
  if (purged.scope == Scope::below) {
    relay.fields.add(http::internal::purge_below, purged.path_and_query);
  }
  report.missing = co_await tell_all(core, relay);
  co_return report;
}

Task<void> tell_peers(CoreState& core, const std::string& host,
                      const std::vector<std::string>& targets) {
  if (targets.empty() || !core.shared.holders.has_peers()) co_return;
  const OwnPurges::Issued purge(core.shared.own_purges);
  {
    // Again: it may have come back since, from a peer that had it still.
    const PurgeLog::Applying applying(core.shared.purges, purge.number(), core.core.steady_now());
    invalidate_uris(core.shared, *core.settings, host, targets);
  }
  Relay relay(core, purge.number(), patience_of_all_tries);
  relay.host = host;
  for (const std::string& target : targets) relay.fields.add(http::internal::invalidate, target);
  static_cast<void>(co_await tell_all(core, relay));
}

}  // namespace ringside::cache
