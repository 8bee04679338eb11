#include "cache/fetch_plan.h"

#include <fmt/format.h>

#include "cache/parts.h"
#include "cache/sliced_object.h"
#include "http/conditional.h"

namespace ringside::cache {

FetchPlan plan_fetch(const RequestContext& context, const StoredPointer& stored) {
  FetchPlan plan;
  const std::string wanted = context.ranges ? http::range_text(*context.ranges) : std::string{};
  if (stored && !stored->extent) {
    plan.validated = stored;
    // What is a whole now may have become too large to be asked for at once.
    const bool in_slices =
        context.route != nullptr && context.rules().slice_size_bytes > 0 && !is_untagged(stored);
    if (in_slices) plan.range = wanted;
    return plan;
  }
  plan.range = wanted;
  if (!stored) return plan;
  if (context.ranges &&
      covers(*stored, http::resolve(*context.ranges, complete_length_bytes(*stored)))) {
    plan.validated = stored;
  } else if (!context.ranges && stored->extent->first_byte == 0 &&
             http::same_strong_validator(stored->head->fields(), stored->head->fields())) {
    plan.range = fmt::format("bytes={}-", stored->body->size_bytes);
    plan.completed = stored;
  }
  return plan;
}

}  // namespace ringside::cache
