// What a replica says that it holds, of its version, and of the purges that it has done.
#include <algorithm>
#include <chrono>
#include <string>

#include "base/limits.h"
#include "base/time.h"
#include "tests/fuzz/fuzzer.h"
#include "tier/holdings.h"
#include "tier/purges.h"

namespace ringside::fuzz {

void examine(std::string_view input) {
  if (const auto version = tier::parse_holdings_version(input)) {
    const auto again = tier::parse_holdings_version(tier::to_text(*version));
    RINGSIDE_CHECK(again && *again == *version);
  }
  if (const auto purge = tier::parse_purge_number(input)) {
    const auto again = tier::parse_purge_number(tier::to_text(*purge));
    RINGSIDE_CHECK(again && *again == *purge);
  }
  if (const auto numbers = tier::NumberSet::parse(input)) {
    const auto again = tier::NumberSet::parse(numbers->text());
    RINGSIDE_CHECK(again && *again == *numbers && again->contains_all_of(*numbers));
  }
  const std::string_view ages = input.substr(std::min(input.find('\n'), input.size()));
  const SteadyPoint now{std::chrono::hours{1}};
  tier::Purges purges;
  purges.adopt(input.substr(0, input.size() - ages.size()), ages.substr(ages.empty() ? 0 : 1), now);
  tier::Purges next;
  next.adopt(purges.done(now), purges.ages(now), now);
  const SteadyPoint later = now + limits::purges_remembered;
  RINGSIDE_CHECK(tier::are_done(purges.begun(now), next.done(now)));
  RINGSIDE_CHECK(tier::are_done(next.begun(later), purges.done(later)));
  const auto holdings = tier::parse_holdings(input);
  if (!holdings) return check_message(holdings.error());
  RINGSIDE_CHECK(holdings->version.incarnation != 0);
  RINGSIDE_CHECK(holdings->epochs.empty() || holdings->epochs.size() == shard::bucket_count);
  const auto again = tier::parse_holdings(tier::to_text(*holdings));
  RINGSIDE_CHECK(again && *again == *holdings);
}

}  // namespace ringside::fuzz
