#include "cache/fetch_plan.h"

#include <fmt/format.h>

#include "cache/parts.h"
#include "cache/sliced_object.h"
#include "http/conditional.h"
#include "http/vary.h"

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

bool validates(const FetchPlan& plan) noexcept {
  return plan.validated && plan.validated->head->status() / 100 == 2;
}

Asking asking_of(const FetchPlan& plan) noexcept {
  Asking asking;
  asking.fills = true;
  if (validates(plan)) asking.validated = plan.validated->head.get();
  asking.range = plan.range;
  if (plan.completed) asking.same_as = plan.completed->head.get();
  return asking;
}

std::string variant_asked(const Store::Found& found, const http::Fields& request) {
  return found.vary.empty() ? std::string{} : http::variant_key(found.vary, request);
}

std::string flight_name(std::string variant, const FetchPlan& plan, const std::string& entity_tag) {
  const bool brings_part = !plan.range.empty() && !plan.completed;
  if (brings_part) variant.append("\n").append(plan.range);
  if (!entity_tag.empty()) variant.append("\n").append(entity_tag);
  return variant;
}

}  // namespace ringside::cache
