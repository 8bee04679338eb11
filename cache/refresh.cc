#include "cache/refresh.h"

#include "base/limits.h"
#include "cache/fetch.h"
#include "cache/sliced_object.h"
#include "http/kept_request.h"

namespace ringside::cache {
namespace {

// All that a refresh needs, once its request has gone.
struct Refresh {
  Refresh(const Transaction& transaction, const http::RequestHead& whole)
      : settings(transaction.settings),
        request(whole),
        context(transaction.context),
        found(transaction.found) {
    context.method = "GET";  // the ranges stay: they are what a stored part is refreshed by
    context.directives = {};
    context.time_allowed = settings->request_deadline;
    const std::uint64_t slice_bytes = context.rules().slice_size_bytes;
    const bool in_slices = slice_bytes > 0 && !is_untagged(found.response);
    if (in_slices) context.ranges = http::RangeSet{{{0, slice_bytes - 1}}};
  }
  const std::shared_ptr<const Settings> settings;  // the context's route lies in it
  const http::KeptRequest request;
  RequestContext context;
  const Store::Found found;
};

Task<void> run(CoreState& core, std::unique_ptr<const Refresh> refresh) {
  {
    Fetch fetch(core, *refresh->settings, refresh->request.head(), refresh->context, refresh->found,
                nullptr, Fetch::Purpose::refresh);
    co_await fetch.run();
  }
  --core.refreshes;
}

}  // namespace

void refresh_in_background(const Transaction& transaction) {
  CoreState& core = transaction.core;
  if (core.refreshes >= limits::background_refreshes || core.core.draining()) return;
  ++core.refreshes;
  core.core.spawn(run(core, std::make_unique<const Refresh>(transaction, *transaction.request)));
}

}  // namespace ringside::cache
