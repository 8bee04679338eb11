// What a replica says that it holds, and what it says of its version.
#include <string>

#include "tests/fuzz/fuzzer.h"
#include "tier/holdings.h"

namespace ringside::fuzz {

void examine(std::string_view input) {
  if (const auto version = tier::parse_holdings_version(input)) {
    RINGSIDE_CHECK(tier::parse_holdings_version(tier::to_text(*version)) == *version);
  }
  const auto holdings = tier::parse_holdings(input);
  if (!holdings) return check_message(holdings.error());
  RINGSIDE_CHECK(holdings->version.incarnation != 0);
  RINGSIDE_CHECK(holdings->epochs.empty() || holdings->epochs.size() == shard::bucket_count);
  const auto again = tier::parse_holdings(tier::to_text(*holdings));
  RINGSIDE_CHECK(again && *again == *holdings);
}

}  // namespace ringside::fuzz
