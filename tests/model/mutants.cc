#include "tests/model/mutants.h"

#include <array>
#include <atomic>

#include "cache/freshness.h"
#include "cache/invalidation.h"
#include "cache/serving.h"
#include "cache/storability.h"
#include "cache/stored_response.h"
#include "http/conditional.h"
#include "http/vary.h"
#include "tests/model/real_update.h"

namespace ringside::model {
namespace {

using http::Fields;

constexpr std::array<MutantRow, 14> rows{{
    {Mutant::fresh_at_its_end, "fresh_at_its_end", 60},
    {Mutant::request_max_age_ignored, "request_max_age_ignored", 100},
    {Mutant::must_revalidate_ignored, "must_revalidate_ignored", 60},
    {Mutant::no_cache_ignored, "no_cache_ignored", 60},
    {Mutant::age_forgotten, "age_forgotten", 60},
    {Mutant::date_ignored, "date_ignored", 60},
    {Mutant::s_maxage_ignored, "s_maxage_ignored", 60},
    {Mutant::vary_ignored, "vary_ignored", 60},
    {Mutant::no_store_stored, "no_store_stored", 60},
    {Mutant::private_stored, "private_stored", 60},
    {Mutant::authorized_stored, "authorized_stored", 60},
    {Mutant::any_tag_matches, "any_tag_matches", 60},
    {Mutant::fields_of_304_lost, "fields_of_304_lost", 60},
    {Mutant::invalidation_forgotten, "invalidation_forgotten", 60},
}};

std::atomic<Mutant> chosen{Mutant::none};

bool is(Mutant mutant) noexcept { return chosen.load() == mutant; }

Fields without(const Fields& fields, std::string_view name) {
  Fields out;
  for (const http::Field& field : fields) {
    if (!http::same_token(field.name, name)) out.add(field.name, field.value);
  }
  return out;
}

}  // namespace

std::span<const MutantRow> mutants() noexcept { return rows; }

void choose(Mutant mutant) noexcept { chosen.store(mutant); }

}  // namespace ringside::model

// The cache's functions, wrong where their mutant is chosen; else as the real ones, which
// tests/CMakeLists.txt has compiled under these names. Where a signature changes, linking fails.
namespace ringside::http {

using model::is;
using model::Mutant;

std::string real_variant_key(const std::vector<std::string>& names, const Fields& request_fields);
bool real_is_not_modified(const Fields& request, const Fields& stored, TimePoint now) noexcept;

std::string variant_key(const std::vector<std::string>& names, const Fields& request_fields) {
  return is(Mutant::vary_ignored) ? std::string{} : real_variant_key(names, request_fields);
}

bool is_not_modified(const Fields& request, const Fields& stored, TimePoint now) noexcept {
  if (is(Mutant::any_tag_matches) && request.has("if-none-match")) return true;
  return real_is_not_modified(request, stored, now);
}

}  // namespace ringside::http

namespace ringside::cache {

using model::is;
using model::Mutant;

Verdict real_judge(const Freshness* stored, const http::RequestDirectives& request,
                   TimePoint now) noexcept;
Freshness real_freshness_of(const FreshnessInput& input);
Storability real_storability(const StorabilityInput& input) noexcept;
std::vector<std::string> real_invalidate_after(Shared& shared, const Settings& settings,
                                               const RequestContext& context,
                                               const http::ResponseHead& response, SteadyPoint now);

Verdict judge(const Freshness* stored, const http::RequestDirectives& request,
              TimePoint now) noexcept {
  if (stored == nullptr) return real_judge(stored, request, now);
  Freshness freshness = *stored;
  http::RequestDirectives directives = request;
  if (is(Mutant::fresh_at_its_end)) freshness.lifetime += Seconds{1};
  if (is(Mutant::must_revalidate_ignored)) freshness.must_revalidate = false;
  if (is(Mutant::no_cache_ignored)) freshness.no_cache = false;
  if (is(Mutant::request_max_age_ignored)) directives.max_age.reset();
  return real_judge(&freshness, directives, now);
}

Freshness freshness_of(const FreshnessInput& input) {
  const http::Fields fields = is(Mutant::date_ignored)    ? model::without(input.fields, "date")
                              : is(Mutant::age_forgotten) ? model::without(input.fields, "age")
                                                          : input.fields;
  http::ResponseDirectives directives = input.directives;
  if (is(Mutant::s_maxage_ignored)) directives.s_maxage.reset();
  return real_freshness_of({input.status, fields, directives, input.times, input.rules});
}

Storability storability(const StorabilityInput& input) noexcept {
  http::ResponseDirectives directives = input.directives;
  if (is(Mutant::no_store_stored)) directives.no_store = false;
  if (is(Mutant::private_stored)) directives.is_private = false;
  const bool authorized = input.authorized && !is(Mutant::authorized_stored);
  return real_storability({input.method, input.asked, authorized, input.status, input.fields,
                           directives, input.freshness, input.rules,
                           input.content_location_is_target, input.is_understood_part});
}

std::shared_ptr<const StoredHead> StoredHead::updated(const StoredHead& stored,
                                                      const http::Fields& fields,
                                                      const http::Fields& request,
                                                      const ExchangeTimes& times,
                                                      const Rules& rules) {
  const bool lost = is(Mutant::fields_of_304_lost);
  return model::real_updated(stored, lost ? http::Fields{} : fields, request, times, rules);
}

std::vector<std::string> invalidate_after(Shared& shared, const Settings& settings,
                                          const RequestContext& context,
                                          const http::ResponseHead& response, SteadyPoint now) {
  if (is(Mutant::invalidation_forgotten)) return {};
  return real_invalidate_after(shared, settings, context, response, now);
}

}  // namespace ringside::cache
