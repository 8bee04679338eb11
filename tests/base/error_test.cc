#include "base/error.h"

#include <gtest/gtest.h>

#include <set>

#include "base/check.h"

namespace ringside {
namespace {

TEST(Error, KindsAndSourcesHaveNamesOfTheirOwn) {
  std::set<std::string_view> kinds;
  constexpr int last_kind = static_cast<int>(ErrorKind::internal);
  for (int i = 0; i <= last_kind; ++i) kinds.insert(name(static_cast<ErrorKind>(i)));
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(last_kind) + 1);

  std::set<std::string_view> sources;
  constexpr int last_source = static_cast<int>(ErrorSource::ourselves);
  for (int i = 0; i <= last_source; ++i) sources.insert(name(static_cast<ErrorSource>(i)));
  EXPECT_EQ(sources.size(), static_cast<std::size_t>(last_source) + 1);
}

TEST(Error, InvalidInputIsTheGiversAndNotRepeated) {
  const Error error = invalid_input("routes.yaml:3: write host:port");
  EXPECT_EQ(error.kind, ErrorKind::invalid_input);
  EXPECT_EQ(error.source, ErrorSource::client);
  EXPECT_EQ(error.retry, Retry::no);
  EXPECT_EQ(error.message, "routes.yaml:3: write host:port");
}

TEST(ErrorDeathTest, TheValueOfAFailedResultIsABrokenInvariant) {
  const Result<int> failed = invalid_input("no number");
  EXPECT_DEATH(static_cast<void>(failed.value()), "broken invariant: no number");
}

TEST(ErrorDeathTest, ACheckNamesItsConditionAndPlace) {
  RINGSIDE_CHECK(1 + 1 == 2);
  EXPECT_DEATH(RINGSIDE_CHECK(1 + 1 == 3), "broken invariant: 1 \\+ 1 == 3 .*error_test.cc:");
}

}  // namespace
}  // namespace ringside
