#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_slices.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::eventually;
using support::Stage;
using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr std::string_view tagged_2 = "Cache-Control: max-age=60\r\nETag: \"2\"\r\n";

TEST(ReplicaStaleSlices, Rfc9111Section4_3OnlyTheFirstSliceIsValidated) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  expect_whole(slices.replica.get("/"), object.body);
  slices.replica.settle();
  pass(slices.replica, Seconds{61});
  const auto confirmed = slices.replica.get("/");
  expect_whole(confirmed, object.body);
  EXPECT_EQ(confirmed.field("cache-status"),
            "cache-7; fwd=partial; fwd-status=304; stored; ttl=60");
  EXPECT_THAT(slices.ranges(5), ElementsAre(first_slice()));
  EXPECT_EQ(asked(slices.origin, 5, "if-none-match"), "\"1\"");
  slices.replica.settle();
  pass(slices.replica, Seconds{61});
  const std::size_t middle = 3 * slice_bytes + 7;
  expect_part(slices.replica.get("/", range(middle, middle + 9)), object.body, middle, middle + 9);
  EXPECT_THAT(slices.ranges(6), ElementsAre(first_slice()));
  EXPECT_EQ(asked(slices.origin, 6, "if-none-match"), "\"1\"");
  EXPECT_EQ(slices.replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_TRUE(slices.replica.counts(Outcome::revalidated, 2));
  expect_whole(slices.replica.get("/", "Cache-Control: no-cache\r\n"), object.body);
  EXPECT_THAT(slices.ranges(7), ElementsAre(first_slice()));
}

TEST(ReplicaStaleSlices, ANewTagIsANewObject) {
  const std::vector<Object> objects{{numbered(object_bytes)},
                                    {std::string(2 * slice_bytes, 'n'), std::string(tagged_2)}};
  std::atomic<std::size_t> which{0};
  Slices slices(serves_one_of(objects, which));
  expect_whole(slices.replica.get("/"), objects[0].body);
  slices.replica.settle();
  pass(slices.replica, Seconds{61});
  which = 1;
  const auto changed = slices.replica.get("/");
  expect_whole(changed, objects[1].body);
  EXPECT_EQ(changed.field("etag"), "\"2\"");
  EXPECT_THAT(slices.ranges(5), ElementsAreArray(all_slices(2 * slice_bytes)));
  slices.replica.settle();
  expect_whole(slices.replica.get("/"), objects[1].body);
  EXPECT_EQ(slices.origin.requests(), 7U);
}

TEST(ReplicaStaleSlices, AWholeThatHasGrownIsAskedForInSlices) {
  const std::vector<Object> objects{{numbered(1'000)},
                                    {numbered(object_bytes), std::string(tagged_2)}};
  std::atomic<std::size_t> which{0};
  Slices slices(serves_one_of(objects, which));
  expect_whole(slices.replica.get("/"), objects[0].body);
  slices.replica.settle();
  pass(slices.replica, Seconds{61});
  expect_whole(slices.replica.get("/"), objects[0].body);
  EXPECT_EQ(asked(slices.origin, 1, "if-none-match"), "\"1\"");
  slices.replica.settle();
  pass(slices.replica, Seconds{61});
  which = 1;
  expect_whole(slices.replica.get("/"), objects[1].body);
  EXPECT_THAT(slices.ranges(2), ElementsAreArray(all_slices(object_bytes)));
}

// RFC 5861 §3. What was refreshed was what the client asked for: all of it, or a few bytes that
// took the first slice's place.
TEST(ReplicaStaleSlices, InTheBackgroundOnlyTheFirstSliceIsFetched) {
  struct Row {
    std::string fields;
    unsigned early_refresh_percent;
    Seconds age;
    std::string status;
  };
  const std::string window = "Cache-Control: max-age=60, stale-while-revalidate=60\r\n";
  for (const Row& row :
       std::vector<Row>{{window, 0, Seconds{61}, "cache-7; hit; ttl=-1"},
                        {std::string(lives), 100, Seconds{59}, "cache-7; hit; ttl=1"}}) {
    const Object object{numbered(object_bytes), row.fields + "ETag: \"1\"\r\n"};
    for (const std::string& lines :
         {std::string{}, range(4, 5), range(70'000, 70'009), std::string("Range: bytes=-5\r\n"),
          std::string("If-None-Match: \"1\"\r\n"), range(object_bytes, object_bytes)}) {
      Slices slices(serves(object));
      auto rules = in_slices();
      rules.early_refresh_percent = row.early_refresh_percent;
      set_rules(slices.replica, rules);
      expect_whole(slices.replica.get("/"), object.body);
      slices.replica.settle();
      slices.replica.clock().advance(Milliseconds{row.age} + Milliseconds{999});
      const auto stale = slices.replica.get("/", lines);
      EXPECT_EQ(stale.field("cache-status"), row.status) << lines;
      ASSERT_TRUE(eventually([&] { return slices.origin.requests() == 6; })) << lines;
      slices.replica.settle();
      EXPECT_THAT(slices.ranges(5), ElementsAre(first_slice())) << lines;
      EXPECT_EQ(asked(slices.origin, 5, "if-none-match"), "\"1\"");
      const auto fresh = slices.replica.get("/");
      expect_whole(fresh, object.body);
      EXPECT_EQ(fresh.field("cache-status"), "cache-7; hit; ttl=60");
      EXPECT_EQ(slices.origin.requests(), 6U) << lines;
    }
  }
}

TEST(ReplicaStaleSlices, WhereTheOriginIsGoneWhatIsStoredIsGiven) {
  const Object object{numbered(object_bytes)};
  std::atomic<bool> gone{false};
  Slices slices([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      if (gone) stage.close();
      stage.send(object.answer_to(request));
    }
  });
  expect_whole(slices.replica.get("/"), object.body);
  slices.replica.settle();
  pass(slices.replica, Seconds{61});
  gone = true;
  const auto stale = slices.replica.get("/");
  expect_whole(stale, object.body);
  EXPECT_EQ(stale.field("cache-status"), "cache-7; fwd=partial; ttl=-1; detail=origin-failed");
  EXPECT_TRUE(slices.replica.counts(Outcome::stale, 1));
}

// RFC 9111 §4.3.4: the 304 says that it may be stored no longer.
TEST(ReplicaStaleSlices, WhatMayNotBeStoredAnyMoreIsPassedOn) {
  const Object object{numbered(object_bytes)};
  Object forbidden = object;
  forbidden.field_lines = "Cache-Control: no-store\r\nETag: \"1\"\r\n";
  std::atomic<std::size_t> which{0};
  Slices slices(serves_one_of({object, forbidden}, which));
  expect_part(slices.replica.get("/", range(0, 9)), object.body, 0, 9);
  slices.replica.settle();
  pass(slices.replica, Seconds{61});
  which = 1;
  for (unsigned round = 0; round < 2; ++round) {
    expect_whole(slices.replica.get("/"), object.body);
    slices.replica.settle();
    EXPECT_EQ(slices.replica.store().entries, 0U);
  }
}

}  // namespace
}  // namespace ringside::cache
