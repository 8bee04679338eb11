#include "sidecar/purge_issuer.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace ringside::sidecar {
namespace {

TEST(PurgeIssuer, KnowsWhatIsUnderWay) {
  PurgeIssuer issuer("a");
  std::optional<PurgeIssuer::Issued> first(std::in_place, issuer);
  EXPECT_EQ(first->number(), (tier::PurgeNumber{"a", 1, 0}));
  {
    const PurgeIssuer::Issued second(issuer);
    EXPECT_EQ(second.number(), (tier::PurgeNumber{"a", 2, 0}));
  }
  const PurgeIssuer::Issued third(issuer);
  EXPECT_EQ(third.number(), (tier::PurgeNumber{"a", 3, 0})) << "the first one is under way still";
  first.reset();
  const PurgeIssuer::Issued fourth(issuer);
  EXPECT_EQ(fourth.number(), (tier::PurgeNumber{"a", 4, 2}));
  EXPECT_EQ(issuer.issued(), 4U);
}

}  // namespace
}  // namespace ringside::sidecar
