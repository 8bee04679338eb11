#include "cache/refresh.h"

#include "base/hash.h"
#include "base/limits.h"
#include "cache/shared_fetch.h"
#include "cache/sliced_object.h"
#include "http1/kept_request.h"

namespace ringside::cache {
namespace {

// All that a refresh needs, once its request has gone.
struct Refresh {
  Refresh(const RequestState& state, http::RequestHead whole)
      : settings(state.settings), request(whole), inquiry(state.inquiry), found(state.found) {
    inquiry.method = "GET";  // the ranges stay: they are what a stored part is refreshed by
    inquiry.directives = {};
    inquiry.time_allowed = settings->request_deadline;
    const std::uint64_t slice_bytes = inquiry.rules().slice_size_bytes;
    const bool in_slices = slice_bytes > 0 && !is_untagged(found.response);
    if (in_slices) inquiry.ranges = http::RangeSet{{{0, slice_bytes - 1}}};
  }
  const std::shared_ptr<const Settings> settings;  // the inquiry's route lies in it
  const http::KeptRequest request;
  Inquiry inquiry;
  const Store::Found found;
};

Task<void> run(CoreState& core, std::unique_ptr<const Refresh> refresh) {
  {
    SharedFetch fetch(core, *refresh->settings, refresh->request.head(), refresh->inquiry,
                      refresh->found, nullptr, SharedFetch::Purpose::refresh);
    std::string head;
    co_await fetch.run(head);
  }
  --core.refreshes;
}

}  // namespace

bool is_refresh_due(const RequestState& state, const Freshness& freshness, Verdict verdict) {
  const Inquiry& inquiry = state.inquiry;
  if (!inquiry.may_fill_store) return false;
  const unsigned percent = inquiry.rules().early_refresh_percent;
  return verdict == Verdict::stale_while_revalidating ||
         (verdict == Verdict::fresh && percent > 0 &&
          refreshes_early(freshness, hash64(inquiry.key.text), percent, state.core.core.now()));
}

void refresh_in_background(const RequestState& state) {
  CoreState& core = state.core;
  if (core.refreshes >= limits::background_refreshes || core.core.draining()) return;
  ++core.refreshes;
  core.core.spawn(run(core, std::make_unique<const Refresh>(state, state.request)));
}

}  // namespace ringside::cache
