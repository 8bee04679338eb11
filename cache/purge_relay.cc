#include "cache/purge_relay.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "cache/peer_exchange.h"
#include "http/field_lines.h"
#include "http/internal_fields.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

// What goes on, in strings of its own: the request is over before.
struct Relayed {
  std::string method = "OPTIONS";
  http::Target target{"*", {}, false};
  std::string host{};
  http::FieldLines fields{};
};

Task<void> relay(CoreState& core, tier::Peer leaver, Relayed relayed) {
  net::Waiter waiter(core.core);
  for (unsigned tried = 0; tried < limits::relay_tries && !core.core.stopped(); ++tried) {
    if (tried > 0) co_await waiter.wait(core.core.steady_now() + limits::relay_pause);
    PeerQuestion question;
    question.method = relayed.method;
    question.target = relayed.target;
    question.host = relayed.host;
    question.fields = relayed.fields.text();
    question.timeout = limits::invalidation_timeout;
    const auto asked = co_await ask_peer(core, leaver, std::move(question));
    if (!asked) continue;
    static_cast<void>(co_await content_of(**asked, limits::kMiB));
    co_return;
  }
  log::write(log::Level::debug,
             fmt::format("{}: {} has not confirmed a purge", core.shared.name, leaver.name));
}

Relayed begin(const CoreState& core, const tier::PurgeNumber& number) {
  Relayed relayed;
  relayed.fields.add(http::internal::relayed, core.shared.name);
  relayed.fields.add(http::internal::purge, tier::to_text(number));
  return relayed;
}

void send(CoreState& core, const Relayed& relayed) {
  for (const tier::Peer& leaver : core.shared.holders.leavers()) {
    core.core.spawn(relay(core, leaver, relayed));
  }
}

}  // namespace

void relay_to_leavers(const Transaction& transaction) {
  const http::Fields& fields = transaction.request->fields;
  const auto& number = transaction.context.purge;
  const bool is_purge = transaction.context.method == "PURGE";
  // Who is told a number alone has removed by itself what others are told to remove.
  const bool removes = is_purge || fields.has(http::internal::invalidate);
  if (!number || !removes || fields.has(http::internal::relayed)) return;
  CoreState& core = transaction.core;
  Relayed relayed = begin(core, *number);
  relayed.method = transaction.context.method;
  if (is_purge) relayed.target = transaction.context.target;
  relayed.host = is_purge ? transaction.context.host : std::string(transaction.request->host);
  for (const http::Field& field : fields) {
    if (!http::same_token(field.name, http::internal::invalidate)) continue;
    relayed.fields.add(field.name, field.value);
  }
  send(core, relayed);
}

void tell_leavers(CoreState& core, const std::string& host,
                  const std::vector<std::string>& targets) {
  if (targets.empty() || core.shared.holders.leavers().empty()) return;
  const tier::PurgeNumber number{core.shared.mark, ++core.shared.invalidations};
  const PurgeLog::Applying applying(core.shared.purges, number, core.core.steady_now());
  Relayed relayed = begin(core, number);
  relayed.host = host;
  for (const std::string& target : targets) relayed.fields.add(http::internal::invalidate, target);
  send(core, relayed);
}

}  // namespace ringside::cache
