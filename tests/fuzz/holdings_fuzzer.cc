// What a replica says that it holds, of its version, and of the purges that it has done.
#include <string>

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
  tier::Purges purges;
  purges.adopt(input, input, {});
  RINGSIDE_CHECK(tier::are_done(purges.begun({}), purges.done({})));
  const auto holdings = tier::parse_holdings(input);
  if (!holdings) return check_message(holdings.error());
  RINGSIDE_CHECK(holdings->version.incarnation != 0);
  RINGSIDE_CHECK(holdings->epochs.empty() || holdings->epochs.size() == shard::bucket_count);
  const auto again = tier::parse_holdings(tier::to_text(*holdings));
  RINGSIDE_CHECK(again && *again == *holdings);
}

}  // namespace ringside::fuzz
