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
    RINGSIDE_CHECK(tier::parse_purge_number(tier::to_text(*purge)) == *purge);
    tier::Purges here;
    here.begin(*purge, {});
    RINGSIDE_CHECK(here.are_covered_by(input, {}) || purge->issuer.ends_with(','));
  }
  tier::Purges here;
  here.begin({"a", 1}, {});
  static_cast<void>(here.are_covered_by(input, {}));
  const auto holdings = tier::parse_holdings(input);
  if (!holdings) return check_message(holdings.error());
  RINGSIDE_CHECK(holdings->version.incarnation != 0);
  RINGSIDE_CHECK(holdings->epochs.empty() || holdings->epochs.size() == shard::bucket_count);
  const auto again = tier::parse_holdings(tier::to_text(*holdings));
  RINGSIDE_CHECK(again && *again == *holdings);
}

}  // namespace ringside::fuzz
