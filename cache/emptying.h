#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/task.h"
#include "cache/core_state.h"
#include "cache/missed_purges.h"
#include "cache/request_context.h"
#include "http/fields.h"

namespace ringside::cache {

// Removes what `prefix` begins (see Store::purge; empty: everything) and keeps later requests from
// joining what was fetched before. The core does other things meanwhile. Returns how many stored
// responses went.
Task<std::size_t> purge_by_steps(CoreState& core, std::string prefix);

// What the sidecar or replica that asks says that this replica has missed (internal::missed);
// nullopt: nothing.
[[nodiscard]] std::optional<MissedPurges::News> told_news(const RequestContext& context,
                                                          const http::Fields& request);

// Empties the store where that is news; waits where another is about it. False: that took too long,
// or the core stops, and nothing stored may be given. The news outlive the task.
Task<bool> heed(CoreState& core, const MissedPurges::News& news);

}  // namespace ringside::cache
