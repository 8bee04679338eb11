#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_slices.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::eventually;
using support::Gate;
using support::get_request;
using support::Stage;
using testing::ElementsAre;
using testing::UnorderedElementsAreArray;

TEST(ReplicaSlice, EachSliceOfTheWholeIsAskedForOnce) {
  const Object object{numbered(object_bytes), std::string(tagged) + "X-Kept: yes\r\n"};
  Slices slices(serves(object));
  auto client = slices.replica.client();
  const auto miss = client.get("/");
  expect_whole(miss, object.body);
  EXPECT_EQ(miss.field("content-length"), std::to_string(object_bytes));
  EXPECT_EQ(miss.field("cache-status"), "cache-7; fwd=uri-miss; fwd-status=206; stored");
  EXPECT_EQ(miss.field("etag"), "\"1\"");
  EXPECT_EQ(slices.ranges(), all_slices(object_bytes));
  slices.replica.settle();
  EXPECT_EQ(slices.replica.store().entries, 5U);
  slices.replica.clock().advance(Milliseconds{7'000});
  const auto hit = client.get("/");
  expect_whole(hit, object.body);
  EXPECT_EQ(hit.field("content-length"), std::to_string(object_bytes));
  EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=53");
  EXPECT_EQ(hit.field("age"), "7");
  EXPECT_EQ(hit.field("x-kept"), "yes");
  expect_part(client.get("/", range(10, 3 * slice_bytes)), object.body, 10, 3 * slice_bytes);
  EXPECT_EQ(slices.origin.requests(), 5U);
  EXPECT_TRUE(slices.replica.counts(Outcome::miss, 1));
  EXPECT_TRUE(slices.replica.counts(Outcome::hit, 2));
}

struct SeekRow {
  std::string range;
  std::size_t first, last;
  std::vector<std::size_t> slices;  // after the first
};

TEST(ReplicaSlice, ASeekCostsTheFirstSliceAndThoseThatItNeeds) {
  const Object object{numbered(object_bytes)};
  const std::size_t end = object_bytes - 1;
  const std::size_t border = 2 * slice_bytes;
  const std::vector<SeekRow> rows{
      {"0-0", 0, 0, {}},
      {fmt::format("10-{}", slice_bytes - 1), 10, slice_bytes - 1, {}},
      {fmt::format("10-{}", slice_bytes), 10, slice_bytes, {1}},
      {fmt::format("{}-{}", border + 7, border + 9), border + 7, border + 9, {2}},
      {fmt::format("{}-{}", border, border + slice_bytes - 1),
       border,
       border + slice_bytes - 1,
       {2}},
      {fmt::format("{}-{}", border - 1, border), border - 1, border, {1, 2}},
      {fmt::format("{}-{}", border - 1, 3 * slice_bytes), border - 1, 3 * slice_bytes, {1, 2, 3}},
      {"-1", end, end, {4}},
      {fmt::format("-{}", slice_bytes), end - slice_bytes + 1, end, {3, 4}},
      {fmt::format("{}-", border + 1), border + 1, end, {2, 3, 4}},
      {fmt::format("{}-999999999", end - 5), end - 5, end, {4}},
  };
  for (const SeekRow& row : rows) {
    Slices slices(serves(object));
    const std::string wanted = "Range: bytes=" + row.range + "\r\n";
    const auto miss = slices.replica.get("/", wanted);
    expect_part(miss, object.body, row.first, row.last);
    EXPECT_EQ(miss.field("cache-status"), "cache-7; fwd=uri-miss; fwd-status=206; stored");
    std::vector<std::string> expected{first_slice()};
    for (const std::size_t index : row.slices) expected.push_back(slice(index, object_bytes));
    EXPECT_EQ(slices.ranges(), expected) << row.range;
    slices.replica.settle();
    const auto hit = slices.replica.get("/", wanted);
    expect_part(hit, object.body, row.first, row.last);
    EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=60");
    EXPECT_EQ(slices.origin.requests(), expected.size()) << row.range;
    expect_whole(slices.replica.get("/"), object.body);
    EXPECT_THAT(slices.ranges(), UnorderedElementsAreArray(all_slices(object_bytes))) << row.range;
  }
}

TEST(ReplicaSlice, WhereTheFirstWantedSliceIsNotStoredTheRestIs) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  expect_part(slices.replica.get("/", range(0, 9)), object.body, 0, 9);
  slices.replica.settle();
  const std::size_t border = 2 * slice_bytes;
  const auto partial = slices.replica.get("/", range(border, border + 9));
  expect_part(partial, object.body, border, border + 9);
  EXPECT_EQ(partial.field("cache-status"), "cache-7; fwd=partial; ttl=60");
  EXPECT_TRUE(slices.replica.counts(Outcome::miss, 2));
}

TEST(ReplicaSlice, LengthsAboutTheSizeOfASlice) {
  for (const std::size_t size : {std::size_t{1}, slice_bytes - 1, slice_bytes, slice_bytes + 1,
                                 2 * slice_bytes, 3 * slice_bytes, 3 * slice_bytes + 1}) {
    const Object object{numbered(size)};
    Slices slices(serves(object));
    expect_whole(slices.replica.get("/"), object.body);
    EXPECT_EQ(slices.ranges(), all_slices(size)) << size;
    slices.replica.settle();
    const auto hit = slices.replica.get("/");
    expect_whole(hit, object.body);
    EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=60");
    EXPECT_EQ(slices.origin.requests(), all_slices(size).size()) << size;
  }
}

TEST(ReplicaSlice, WhatIsNoLargerThanASliceIsAnEntryLikeOthers) {
  for (const std::string& fields : {std::string(tagged), std::string(lives)}) {
    const Object object{numbered(slice_bytes), fields};
    Slices slices(serves(object));
    expect_whole(slices.replica.get("/"), object.body);
    slices.replica.settle();
    auto client = slices.replica.client();
    expect_whole(client.get("/", "Cache-Control: only-if-cached\r\n"), object.body);
    EXPECT_EQ(client.get("/", "Range: bytes=0-0,9-9\r\n").status, 206);
    const auto head = client.ask("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n");
    EXPECT_EQ(head.field("content-length"), std::to_string(slice_bytes));
    EXPECT_EQ(slices.origin.requests(), 1U);
  }
}

TEST(ReplicaSlice, WhatIsEmptyHasNoFirstSlice) {
  const Object object{""};
  Slices slices(serves(object));
  expect_whole(slices.replica.get("/"), "");
  EXPECT_THAT(slices.ranges(), ElementsAre(first_slice(), ""));
  slices.replica.settle();
  EXPECT_EQ(slices.replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(slices.origin.requests(), 2U);
}

TEST(ReplicaSlice, Rfc9110Section13_2ConditionsAndRangesThatItDoesNotHaveCostTheFirstSlice) {
  const Object object{numbered(object_bytes)};
  const std::string beyond = range(object_bytes, object_bytes + 1);
  for (const auto& [lines, status] : std::vector<std::pair<std::string, int>>{
           {"If-None-Match: \"1\"\r\n", 304},
           {"If-None-Match: \"1\"\r\n" + range(slice_bytes, slice_bytes + 9), 304},
           {beyond, 416}}) {
    Slices slices(serves(object));
    auto client = slices.replica.client();
    for (unsigned round = 0; round < 2; ++round) {
      const auto reply = client.get("/", lines);
      EXPECT_EQ(reply.status, status);
      EXPECT_EQ(reply.field("etag"), status == 304 ? "\"1\"" : "");
      EXPECT_EQ(reply.field("content-range"),
                status == 416 ? fmt::format("bytes */{}", object_bytes) : "");
      slices.replica.settle();
    }
    EXPECT_THAT(slices.ranges(), ElementsAre(first_slice()));
    expect_whole(client.get("/", "If-None-Match: \"2\"\r\n"), object.body);
  }
}

TEST(ReplicaSlice, SeveralRangesArePassedOn) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  auto client = slices.replica.client();
  EXPECT_EQ(client.get("/", "Range: bytes=0-1,70000-70001\r\n").status, 206);
  EXPECT_THAT(slices.ranges(), ElementsAre("bytes=0-1,70000-70001"));
  EXPECT_EQ(slices.replica.store().entries, 0U);
}

// It was passed on each time, and nothing was stored.
TEST(ReplicaSlice, Rfc9110Section13_1_5TheFirstSliceTellsWhatIfRangeDecides) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  const std::string same = "If-Range: \"1\"\r\n" + range(70'000, 70'009);
  const std::string other = "If-Range: \"2\"\r\n" + range(70'000, 70'009);
  expect_part(slices.replica.get("/", same), object.body, 70'000, 70'009);
  EXPECT_THAT(slices.ranges(), ElementsAre(first_slice(), slice(1, object_bytes)));
  EXPECT_EQ(asked(slices.origin, 0, "if-range"), "");
  slices.replica.settle();
  const auto hit = slices.replica.get("/", same);
  expect_part(hit, object.body, 70'000, 70'009);
  EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=60");
  expect_whole(slices.replica.get("/", other), object.body);
  EXPECT_THAT(slices.ranges(), UnorderedElementsAreArray(all_slices(object_bytes)));
  slices.replica.settle();
  expect_whole(slices.replica.get("/", other), object.body);
  EXPECT_EQ(slices.origin.requests(), 5U);
  expect_whole(slices.replica.get("/cold", other), object.body);
  EXPECT_EQ(slices.ranges(5), all_slices(object_bytes));
}

// It got 504 wherever the first slice was not enough.
TEST(ReplicaSlice, Rfc9111Section5_2_1_7OnlyIfCachedGetsWhatStandsInSlices) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  const std::string only = "Cache-Control: only-if-cached\r\n";
  const std::size_t border = 2 * slice_bytes;
  const auto refused = [&](const std::string& lines) {
    const std::size_t before = slices.origin.requests();
    EXPECT_EQ(slices.replica.get("/", only + lines).status, 504) << lines;
    EXPECT_EQ(slices.origin.requests(), before) << lines;
  };
  refused("");
  expect_part(slices.replica.get("/", range(border, border + 9)), object.body, border, border + 9);
  slices.replica.settle();
  const auto hit = slices.replica.get("/", only + range(border + 10, border + 19));
  expect_part(hit, object.body, border + 10, border + 19);
  EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=60");
  refused(range(border - 1, border));
  refused(range(border, border + slice_bytes));
  refused("");
  refused("If-Range: \"2\"\r\n" + range(border, border));
  expect_whole(slices.replica.get("/"), object.body);
  slices.replica.settle();
  expect_whole(slices.replica.get("/", only), object.body);
  expect_part(slices.replica.get("/", only + range(1, 3 * slice_bytes)), object.body, 1,
              3 * slice_bytes);
  EXPECT_EQ(slices.origin.requests(), 5U);
  pass(slices.replica, Seconds{61});
  refused("");
  refused(range(border, border));
}

TEST(ReplicaSlice, HeadIsPassedOn) {
  const Object object{numbered(object_bytes)};
  Slices slices([&](Stage& stage) {
    while (true) {
      const auto reply = object.answer_to(stage.read_request());
      stage.send(reply.substr(0, reply.find("\r\n\r\n") + 4));
    }
  });
  auto client = slices.replica.client();
  for (unsigned round = 0; round < 2; ++round) {
    client.send("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n");
    const auto reply = client.read("HEAD");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.field("content-length"), std::to_string(object_bytes));
  }
  EXPECT_THAT(slices.ranges(), ElementsAre("", ""));
}

TEST(ReplicaSlice, AnHttp10ClientGetsItToo) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  for (unsigned round = 0; round < 2; ++round) {
    const auto reply = slices.replica.client().ask("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n");
    expect_whole(reply, object.body);
    EXPECT_EQ(reply.field("content-length"), std::to_string(object_bytes));
    EXPECT_EQ(reply.field("connection"), "close");
  }
}

TEST(ReplicaSlice, TheRoutesFieldsAreSet) {
  const Object object{numbered(object_bytes), std::string(tagged) + "X-Gone: yes\r\n"};
  Slices slices(serves(object));
  auto rules = in_slices();
  rules.response_fields.remove = {"X-Gone"};
  rules.response_fields.set = {{"X-New", "1"}};
  set_rules(slices.replica, rules);
  for (const auto& lines : {std::string{}, range(70'000, 70'001), range(999'999, 999'999),
                            std::string("If-None-Match: \"1\"\r\n")}) {
    const auto reply = slices.replica.get("/", lines);
    EXPECT_EQ(reply.field("x-gone"), "") << lines;
    EXPECT_EQ(reply.field("x-new"), reply.status == 416 ? "" : "1") << lines;
  }
}

TEST(ReplicaSlice, VariantsHaveTheirOwnSlices) {
  const auto object = [](const std::string& language) {
    auto body = language + numbered(object_bytes);
    return Object{body, fmt::format("Cache-Control: max-age=60\r\nETag: \"{}\"\r\nVary: "
                                    "Accept-Language\r\n",
                                    language)};
  };
  Slices slices([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.send(object(support::field(request, "accept-language")).answer_to(request));
    }
  });
  for (unsigned round = 0; round < 2; ++round) {
    for (const std::string language : {"de", "fr"}) {
      const auto accept = "Accept-Language: " + language + "\r\n";
      expect_whole(slices.replica.get("/", accept), object(language).body);
      slices.replica.settle();
    }
  }
  EXPECT_EQ(slices.origin.requests(), 10U);
}

TEST(ReplicaSlice, SimultaneousRequestsCostOneFetchOfEachSlice) {
  constexpr std::size_t clients = 100;
  const Object object{numbered(object_bytes)};
  Gate go;
  Slices slices([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.wait(go);
      stage.send(object.answer_to(request));
    }
  });
  // Some want the whole, others what begins in the middle of one slice or another.
  const auto first_byte = [](std::size_t index) { return index % 5 * slice_bytes + index % 3; };
  std::vector<support::TestClient> waiting;
  for (std::size_t index = 0; index < clients; ++index) {
    waiting.push_back(slices.replica.client());
    const bool whole = first_byte(index) == 0;
    waiting.back().send(
        get_request("/", whole ? std::string{} : range(first_byte(index), object_bytes - 1)));
  }
  ASSERT_TRUE(eventually([&] { return slices.origin.requests() == 1; }));
  go.open();
  for (std::size_t index = 0; index < clients; ++index) {
    const auto reply = waiting[index].read();
    if (first_byte(index) == 0) {
      expect_whole(reply, object.body);
    } else {
      expect_part(reply, object.body, first_byte(index), object_bytes - 1);
    }
  }
  EXPECT_THAT(slices.ranges(), UnorderedElementsAreArray(all_slices(object_bytes)));
}

}  // namespace
}  // namespace ringside::cache
