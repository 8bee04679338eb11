#include "cache/update.h"

namespace ringside::cache {

Update update_of(const StoredHead& stored, const http::Fields& answer, const http::Fields& request,
                 const ExchangeTimes& times, const RequestContext& context) {
  const Rules& rules = context.rules();
  Update update;
  update.head = StoredHead::updated(stored, answer, request, times, rules);
  const StoredHead& head = *update.head;
  // HEAD, too, updates what a GET got.
  update.storability =
      storability({"GET", context.directives, context.authorized, head.status(), head.fields(),
                   effective_directives(head.fields(), rules), head.freshness(), rules});
  return update;
}

}  // namespace ringside::cache
