#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_slices.h"

namespace ringside::cache {
namespace {

using support::eventually;
using support::Gate;
using support::get_request;
using support::Stage;
using testing::ElementsAre;

const std::string weak = "Cache-Control: max-age=60\r\nETag: W/\"1\"\r\n";
const std::string dated =
    "Cache-Control: max-age=60\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n";

// Each request cost a slice and a whole, and nothing was stored or shared.
TEST(ReplicaUntaggedSlices, TheWholeIsSharedAndStoredAsOnOtherRoutes) {
  for (const std::string& fields : {std::string(lives), weak, dated}) {
    const Object object{numbered(object_bytes), fields};
    Slices slices(serves(object));
    const auto miss = slices.replica.get("/");
    expect_whole(miss, object.body);
    EXPECT_EQ(miss.field("cache-status"), "cache-7; fwd=uri-miss; fwd-status=200; stored");
    EXPECT_THAT(slices.ranges(), ElementsAre(first_slice(), ""));
    slices.replica.settle();
    const auto hit = slices.replica.get("/");
    expect_whole(hit, object.body);
    EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=60");
    expect_part(slices.replica.get("/", range(70'000, 70'009)), object.body, 70'000, 70'009);
    EXPECT_EQ(slices.origin.requests(), 2U);
  }
}

TEST(ReplicaUntaggedSlices, OneSliceTellsAndIsNotAskedForAgain) {
  for (const std::string& fields : {std::string(lives), weak, dated}) {
    const Object object{numbered(object_bytes), fields};
    Slices slices(serves(object));
    const auto seek = [&](std::size_t first) {
      expect_part(slices.replica.get("/", range(first, first + 9)), object.body, first, first + 9);
      slices.replica.settle();
    };
    seek(7);
    EXPECT_THAT(slices.ranges(), ElementsAre(first_slice()));
    seek(8);
    EXPECT_EQ(slices.origin.requests(), 1U);
    seek(70'000);
    seek(70'000);
    seek(80'000);
    EXPECT_THAT(slices.ranges(1), ElementsAre("bytes=70000-70009", "bytes=80000-80009"));
    expect_whole(slices.replica.get("/"), object.body);
    EXPECT_THAT(slices.ranges(3), ElementsAre(""));
  }
}

TEST(ReplicaUntaggedSlices, SimultaneousRequestsCostOneSliceAndOneWhole) {
  const Object object{numbered(object_bytes), weak};
  Gate go;
  Slices slices([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.wait(go);
      stage.send(object.answer_to(request));
    }
  });
  std::vector<support::TestClient> waiting;
  for (unsigned index = 0; index < 50; ++index) {
    waiting.push_back(slices.replica.client());
    waiting.back().send(get_request("/"));
  }
  ASSERT_TRUE(eventually([&] { return slices.origin.requests() == 1; }));
  go.open();
  for (auto& client : waiting) expect_whole(client.read(), object.body);
  EXPECT_THAT(slices.ranges(), ElementsAre(first_slice(), ""));
}

TEST(ReplicaUntaggedSlices, AWholeThatIsTooLargeToStoreCostsOneRequest) {
  const Object object{numbered(3 * limits::kMiB), weak};
  Slices slices(serves(object), limits::kMiB);
  for (unsigned round = 0; round < 3; ++round) {
    expect_whole(slices.replica.get("/"), object.body);
    slices.replica.settle();
  }
  EXPECT_THAT(slices.ranges(), ElementsAre(first_slice(), "", "", ""));
}

// RFC 5861 §3: by the whole, since a slice in its place would be of no use.
TEST(ReplicaUntaggedSlices, TheWholeIsRefreshedAndValidatedAsOnOtherRoutes) {
  const Object object{numbered(object_bytes),
                      "Cache-Control: max-age=60, stale-while-revalidate=60\r\nETag: W/\"1\"\r\n"};
  Slices slices(serves(object));
  expect_whole(slices.replica.get("/"), object.body);
  slices.replica.settle();
  for (const std::string& lines : {std::string{}, range(70'000, 70'009)}) {
    const std::size_t before = slices.origin.requests();
    pass(slices.replica, Seconds{61});
    EXPECT_EQ(slices.replica.get("/", lines).field("cache-status"), "cache-7; hit; ttl=-1");
    ASSERT_TRUE(eventually([&] { return slices.origin.requests() == before + 1; }));
    slices.replica.settle();
    EXPECT_THAT(slices.ranges(before), ElementsAre(""));
    EXPECT_EQ(asked(slices.origin, before, "if-none-match"), "W/\"1\"");
    pass(slices.replica, Seconds{121});
    const auto confirmed = slices.replica.get("/", lines);
    EXPECT_EQ(confirmed.field("cache-status"),
              "cache-7; fwd=stale; fwd-status=304; stored; ttl=60");
    EXPECT_THAT(slices.ranges(before + 1), ElementsAre(""));
  }
}

// RFC 9110 §13.1.5: a date might do, which the origin knows.
TEST(ReplicaUntaggedSlices, WhatIfRangeDecidesIsTheOriginsToSay) {
  const Object object{numbered(object_bytes), weak};
  Slices slices(serves(object));
  const std::string lines = "If-Range: \"1\"\r\n" + range(70'000, 70'009);
  for (unsigned round = 0; round < 2; ++round) {
    expect_whole(slices.replica.get("/", lines), object.body);
    slices.replica.settle();
  }
  EXPECT_THAT(slices.ranges(),
              ElementsAre(first_slice(), "bytes=70000-70009", "bytes=70000-70009"));
  EXPECT_EQ(asked(slices.origin, 0, "if-range"), "");
  EXPECT_EQ(asked(slices.origin, 1, "if-range"), "\"1\"");
  EXPECT_EQ(asked(slices.origin, 2, "if-range"), "\"1\"");
}

// Each request cost a slice in vain.
TEST(ReplicaUntaggedSlices, PartsThatMayNotBeStoredAreAskedForOnce) {
  const Object forbidden{numbered(object_bytes), "Cache-Control: no-store\r\nETag: \"1\"\r\n"};
  Slices slices(serves(forbidden));
  for (unsigned round = 0; round < 2; ++round) {
    expect_whole(slices.replica.get("/"), forbidden.body);
    expect_part(slices.replica.get("/", range(70'000, 70'009)), forbidden.body, 70'000, 70'009);
  }
  EXPECT_THAT(slices.ranges(),
              ElementsAre(first_slice(), "", "bytes=70000-70009", "", "bytes=70000-70009"));
  EXPECT_EQ(slices.replica.store().entries, 0U);
}

// RFC 9111 §3.5: so remembered for those alone who say who they are.
TEST(ReplicaUntaggedSlices, PartsThatMayNotBeStoredOfTheAuthorizedAreAskedForOnce) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  const std::string authorized = "Authorization: Basic YTpi\r\n";
  for (unsigned round = 0; round < 2; ++round) {
    expect_whole(slices.replica.get("/", authorized), object.body);
  }
  EXPECT_THAT(slices.ranges(), ElementsAre(first_slice(), "", ""));
  EXPECT_EQ(slices.replica.store().entries, 0U);
  expect_whole(slices.replica.get("/"), object.body);
  EXPECT_EQ(slices.ranges(3), all_slices(object_bytes));
}

}  // namespace
}  // namespace ringside::cache
