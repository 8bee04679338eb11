#include "cache/emptying.h"

#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "http/internal_fields.h"
#include "net/waiter.h"

namespace ringside::cache {

Task<std::size_t> purge_by_steps(CoreState& core, std::string prefix) {
  Store::Purge purge(core.shared.store, std::move(prefix));
  net::Waiter waiter(core.core);
  while (!purge.step()) {
    waiter.bell()->wake();  // behind what is ready by now
    co_await waiter.wait(core.core.steady_now() + limits::deadline_tick);
  }
  core.shared.flights.forget_all();
  co_return purge.removed();
}

std::optional<MissedPurges::News> told_news(const RequestContext& context,
                                            const http::Fields& request) {
  if (!context.from_sidecar) return std::nullopt;
  const auto value = request.first(http::internal::missed);
  const auto purges = request.first(http::internal::purges_done);
  return value ? MissedPurges::read(*value, purges.value_or("")) : std::nullopt;
}

Task<bool> heed(CoreState& core, const MissedPurges::News& news) {
  using Next = MissedPurges::Next;
  const SteadyPoint deadline = core.core.steady_now() + core.settings->request_deadline;
  MissedPurges& missed = core.shared.missed;
  net::Waiter waiter(core.core);
  while (true) {
    const Next next = missed.next(news, waiter.bell());
    if (next == Next::none) co_return true;
    if (next == Next::wait) {
      const bool woken = co_await waiter.wait(deadline);
      if (!woken) co_return false;
      continue;
    }
    PurgeLog& purges = core.shared.purges;
    if (news.purges) purges.begin_all_up_to(*news.purges, core.core.steady_now());
    const std::size_t removed = co_await purge_by_steps(core, std::string());
    if (news.purges) purges.end_all_up_to(*news.purges);
    missed.emptied(news);

    log::warning("{}: {} says that purges were missed: {} stored responses dropped",
                 core.shared.name, news.issuer, removed);
  }
}

}  // namespace ringside::cache
