#include "cache/selection.h"

#include "cache/parts.h"
#include "http/conditional.h"

namespace ringside::cache {

Selection select(const RequestContext& context, const http::Fields& request,
                 const StoredHead& stored, std::optional<std::uint64_t> complete_length_bytes,
                 TimePoint now) {
  const bool reads = context.method == "GET" || context.method == "HEAD";
  if (!reads || stored.status() != 200) return {};
  if (http::is_not_modified(request, stored.fields(), now))
    return {Selection::Kind::not_modified, {}};
  if (!context.ranges || !complete_length_bytes ||
      !http::range_applies(request, stored.fields(), now)) {
    return {};
  }
  if (*complete_length_bytes == 0) return {};  // nothing is the whole, too
  auto spans = http::resolve(*context.ranges, *complete_length_bytes);
  if (spans.empty()) return {Selection::Kind::unsatisfiable, {}};
  return {Selection::Kind::parts, std::move(spans)};
}

bool is_enough(const StoredResponse& stored, const RequestContext& context,
               const http::Fields& request, TimePoint now) {
  if (!stored.extent) return true;
  if (context.method != "GET") return false;
  const auto selection = select(context, request, *stored.head, complete_length_bytes(stored), now);
  switch (selection.kind) {
    case Selection::Kind::not_modified:
    case Selection::Kind::unsatisfiable:
      return true;
    case Selection::Kind::parts:
      return covers(stored, selection.spans);
    case Selection::Kind::whole:
      return false;
  }
  return false;
}

}  // namespace ringside::cache
