#include "tests/model/mutants.h"

#include <array>
#include <atomic>

#include "cache/conditional.h"
#include "cache/freshness.h"
#include "cache/invalidation.h"
#include "cache/serving.h"
#include "cache/storability.h"
#include "cache/stored_response.h"
#include "cache/vary.h"

// Each line is one function of the cache, by the name that it has for the
// linker; CMakeLists.txt has the same names. Where a signature changes, linking
// fails until both are changed.
#define RINGSIDE_REAL(name) __asm__("__real_" name)
#define RINGSIDE_WRAP(name) __asm__("__wrap_" name)

namespace ringside::model {
namespace {

using cache::ExchangeTimes;
using cache::Freshness;
using cache::FreshnessInput;
using cache::Rules;
using cache::Storability;
using cache::StorabilityInput;
using cache::StoredHead;
using cache::Verdict;
using http::Fields;
using http::RequestDirectives;
using HeadPointer = std::shared_ptr<const StoredHead>;
using Names = std::vector<std::string>;

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

#define RINGSIDE_JUDGE                              \
  "_ZN8ringside5cache5judgeEPKNS0_9FreshnessERKNS_" \
  "4http17RequestDirectivesENSt6chro"               \
  "no10time_pointINS8_3_V212system_clockENS8_"      \
  "8durationIlSt5ratioILl1ELl1000EEEEEE"
Verdict real_judge(const Freshness*, const RequestDirectives&, TimePoint) noexcept
    RINGSIDE_REAL(RINGSIDE_JUDGE);
Verdict wrap_judge(const Freshness*, const RequestDirectives&, TimePoint) noexcept
    RINGSIDE_WRAP(RINGSIDE_JUDGE);
Verdict wrap_judge(const Freshness* stored, const RequestDirectives& asked,
                   TimePoint now) noexcept {
  if (stored == nullptr) return real_judge(stored, asked, now);
  Freshness freshness = *stored;
  RequestDirectives directives = asked;
  if (is(Mutant::fresh_at_its_end)) freshness.lifetime += Seconds{1};
  if (is(Mutant::must_revalidate_ignored)) freshness.must_revalidate = false;
  if (is(Mutant::no_cache_ignored)) freshness.no_cache = false;
  if (is(Mutant::request_max_age_ignored)) directives.max_age.reset();
  return real_judge(&freshness, directives, now);
}

#define RINGSIDE_FRESHNESS "_ZN8ringside5cache12freshness_ofERKNS0_14FreshnessInputE"
Freshness real_freshness_of(const FreshnessInput&) RINGSIDE_REAL(RINGSIDE_FRESHNESS);
Freshness wrap_freshness_of(const FreshnessInput&) RINGSIDE_WRAP(RINGSIDE_FRESHNESS);
Freshness wrap_freshness_of(const FreshnessInput& input) {
  const Fields fields = is(Mutant::date_ignored)    ? without(input.fields, "date")
                        : is(Mutant::age_forgotten) ? without(input.fields, "age")
                                                    : input.fields;
  http::ResponseDirectives directives = input.directives;
  if (is(Mutant::s_maxage_ignored)) directives.s_maxage.reset();
  return real_freshness_of({input.status, fields, directives, input.times, input.rules});
}

#define RINGSIDE_STORABILITY "_ZN8ringside5cache11storabilityERKNS0_16StorabilityInputE"
Storability real_storability(const StorabilityInput&) noexcept RINGSIDE_REAL(RINGSIDE_STORABILITY);
Storability wrap_storability(const StorabilityInput&) noexcept RINGSIDE_WRAP(RINGSIDE_STORABILITY);
Storability wrap_storability(const StorabilityInput& input) noexcept {
  http::ResponseDirectives directives = input.directives;
  if (is(Mutant::no_store_stored)) directives.no_store = false;
  if (is(Mutant::private_stored)) directives.is_private = false;
  const bool authorized = input.authorized && !is(Mutant::authorized_stored);
  return real_storability({input.method, input.asked, authorized, input.status, input.fields,
                           directives, input.freshness, input.rules,
                           input.content_location_is_target, input.is_understood_part});
}

#define RINGSIDE_VARIANT                                            \
  "_ZN8ringside5cache11variant_keyERKSt6vectorINSt7__cxx1112basic_" \
  "stringIcSt11char_"                                               \
  "traitsIcESaIcEEESaIS7_EERKNS_4http6FieldsE"
std::string real_variant_key(const Names&, const Fields&) RINGSIDE_REAL(RINGSIDE_VARIANT);
std::string wrap_variant_key(const Names&, const Fields&) RINGSIDE_WRAP(RINGSIDE_VARIANT);
std::string wrap_variant_key(const Names& names, const Fields& fields) {
  return is(Mutant::vary_ignored) ? std::string{} : real_variant_key(names, fields);
}

#define RINGSIDE_NOT_MODIFIED                                                  \
  "_ZN8ringside5cache15is_not_modifiedERKNS_4http6FieldsES4_NSt6chrono10time_" \
  "pointI"                                                                     \
  "NS5_3_V212system_clockENS5_8durationIlSt5ratioILl1ELl1000EEEEEE"
bool real_is_not_modified(const Fields&, const Fields&, TimePoint) noexcept
    RINGSIDE_REAL(RINGSIDE_NOT_MODIFIED);
bool wrap_is_not_modified(const Fields&, const Fields&, TimePoint) noexcept
    RINGSIDE_WRAP(RINGSIDE_NOT_MODIFIED);
bool wrap_is_not_modified(const Fields& request, const Fields& stored, TimePoint now) noexcept {
  if (is(Mutant::any_tag_matches) && request.has("if-none-match")) return true;
  return real_is_not_modified(request, stored, now);
}

#define RINGSIDE_UPDATED                                                    \
  "_ZN8ringside5cache10StoredHead7updatedERKS1_RKNS_4http6FieldsES7_RKNS0_" \
  "13Exchang"                                                               \
  "eTimesERKNS0_5RulesE"
HeadPointer real_updated(const StoredHead&, const Fields&, const Fields&, const ExchangeTimes&,
                         const Rules&) RINGSIDE_REAL(RINGSIDE_UPDATED);
HeadPointer wrap_updated(const StoredHead&, const Fields&, const Fields&, const ExchangeTimes&,
                         const Rules&) RINGSIDE_WRAP(RINGSIDE_UPDATED);
HeadPointer wrap_updated(const StoredHead& stored, const Fields& fields, const Fields& request,
                         const ExchangeTimes& times, const Rules& rules) {
  const bool lost = is(Mutant::fields_of_304_lost);
  return real_updated(stored, lost ? Fields{} : fields, request, times, rules);
}

#define RINGSIDE_INVALIDATE                                                  \
  "_ZN8ringside5cache16invalidate_afterERNS0_6SharedERKNS0_8SettingsERKNS0_" \
  "7Inquiry"                                                                 \
  "ERKNS_4http12ResponseHeadE"
void real_invalidate(cache::Shared&, const cache::Settings&, const cache::Inquiry&,
                     const http::ResponseHead&) RINGSIDE_REAL(RINGSIDE_INVALIDATE);
void wrap_invalidate(cache::Shared&, const cache::Settings&, const cache::Inquiry&,
                     const http::ResponseHead&) RINGSIDE_WRAP(RINGSIDE_INVALIDATE);
void wrap_invalidate(cache::Shared& shared, const cache::Settings& settings,
                     const cache::Inquiry& inquiry, const http::ResponseHead& response) {
  if (is(Mutant::invalidation_forgotten)) return;
  real_invalidate(shared, settings, inquiry, response);
}

}  // namespace ringside::model
