// The member function is compiled under another name: mutants.cc defines `updated`.
#define updated real_updated
#include "cache/stored_response.cc"  // NOLINT(bugprone-suspicious-include): as said above
#undef updated

#include "tests/model/real_update.h"

namespace ringside::model {

std::shared_ptr<const cache::StoredHead> real_updated(const cache::StoredHead& stored,
                                                      const http::Fields& fields,
                                                      const http::Fields& request,
                                                      const cache::ExchangeTimes& times,
                                                      const cache::Rules& rules) {
  return cache::StoredHead::real_updated(stored, fields, request, times, rules);
}

}  // namespace ringside::model
