#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_slices.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::Stage;
using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr std::string_view tagged_2 = "Cache-Control: max-age=60\r\nETag: \"2\"\r\n";

// Ranges of the slices from that one on.
std::vector<std::string> slices_from(std::size_t index) {
  auto ranges = all_slices(object_bytes);
  ranges.erase(ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(index));
  return ranges;
}

void expect_cut(const support::Reply& reply, std::string_view whole, std::size_t bytes) {
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.whole);
  EXPECT_TRUE(reply.ended);
  // A reset may overtake what was sent.
  EXPECT_LE(reply.body.size(), bytes);
  EXPECT_TRUE(whole.starts_with(reply.body));
}

TEST(ReplicaOddSlices, AnOriginWithoutRangesGivesTheWholeAsOnOtherRoutes) {
  const auto body = numbered(object_bytes);
  Slices slices(support::always(answer("200 OK", lives, body)));
  const auto miss = slices.replica.get("/");
  expect_whole(miss, body);
  EXPECT_EQ(miss.field("cache-status"), "cache-7; fwd=uri-miss; fwd-status=200; stored");
  slices.replica.settle();
  EXPECT_EQ(slices.replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
  expect_part(slices.replica.get("/", range(70'000, 70'009)), body, 70'000, 70'009);
  EXPECT_EQ(slices.origin.requests(), 1U);
}

TEST(ReplicaOddSlices, AnswersOfOtherKindsCostOneRequest) {
  for (const std::string status : {"404 Not Found", "503 Service Unavailable", "200 OK"}) {
    Slices slices(support::always(answer(status, "Cache-Control: no-store\r\n", "hello")));
    const auto reply = slices.replica.get("/");
    EXPECT_EQ(std::to_string(reply.status), status.substr(0, 3));
    EXPECT_EQ(reply.body, "hello");
    EXPECT_EQ(slices.origin.requests(), 1U) << status;
  }
}

// RFC 9111 §3.5: what comes for one client is not stored, and is what it gets all the same.
TEST(ReplicaOddSlices, SlicesThatMayNotBeStoredAreForTheOneWhoAsked) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  const std::size_t border = 2 * slice_bytes;
  expect_part(slices.replica.get("/", range(border, border)), object.body, border, border);
  slices.replica.settle();
  EXPECT_EQ(slices.replica.store().entries, 2U);
  auto client = slices.replica.client();
  const std::string authorized = "Authorization: Basic YTpi\r\n";
  expect_whole(client.get("/", authorized), object.body);
  expect_part(client.get("/", authorized + range(10, border + 9)), object.body, 10, border + 9);
  slices.replica.settle();
  EXPECT_EQ(slices.replica.store().entries, 2U);
}

TEST(ReplicaOddSlices, Rfc9110Section8_8_3ANewTagInMidAnswerCutsItAndTheNextIsWhole) {
  const Object old{numbered(object_bytes)};
  const Object fresh{std::string(object_bytes - 100, 'n'), std::string(tagged_2)};
  for (const std::size_t after : {1U, 3U}) {
    std::atomic<std::size_t> served{0};
    Slices slices([&](Stage& stage) {
      while (true) {
        const auto request = stage.read_request();
        stage.send((served.fetch_add(1) < after ? old : fresh).answer_to(request));
      }
    });
    expect_cut(slices.replica.get("/"), old.body, after * slice_bytes);
    slices.replica.settle();
    for (unsigned round = 0; round < 2; ++round) {
      const auto next = slices.replica.get("/");
      expect_whole(next, fresh.body);
      EXPECT_EQ(next.field("etag"), "\"2\"");
      slices.replica.settle();
    }
    EXPECT_EQ(slices.origin.requests(), after + 1 + 5);
  }
}

// Same tag, other length: whatever that is, it is not what was promised.
TEST(ReplicaOddSlices, AnotherLengthInMidAnswerCutsIt) {
  const Object old{numbered(object_bytes)};
  const Object fresh{numbered(object_bytes + slice_bytes)};
  std::atomic<std::size_t> which{0};
  Slices slices(serves_one_of({old, fresh}, which));
  expect_part(slices.replica.get("/", range(0, 9)), old.body, 0, 9);
  slices.replica.settle();
  which = 1;
  expect_cut(slices.replica.get("/"), old.body, slice_bytes);
  slices.replica.settle();
  expect_whole(slices.replica.get("/"), fresh.body);
}

TEST(ReplicaOddSlices, WhereTheOriginFailsInMidAnswerTheNextRequestGoesOn) {
  const Object object{numbered(object_bytes)};
  for (const std::string how : {"503", "404", "close", "half"}) {
    std::atomic<bool> failing{true};
    Slices slices([&](Stage& stage) {
      while (true) {
        const auto request = stage.read_request();
        const auto reply = object.answer_to(request);
        if (!failing || support::field(request, "range") != slice(2, object_bytes)) {
          stage.send(reply);
        } else if (how == "close") {
          stage.close();
        } else if (how == "half") {
          stage.send(reply.substr(0, reply.size() / 2));
          stage.close();
        } else {
          stage.send(answer(how + " Failed", "", "failed"));
        }
      }
    });
    expect_cut(slices.replica.get("/"), object.body, 3 * slice_bytes);
    slices.replica.settle();
    failing = false;
    const std::size_t asked = slices.origin.requests();
    expect_whole(slices.replica.get("/"), object.body);
    // A 404 says that what was stored is no more.
    auto expected = slices_from(2);
    if (how == "404") expected.insert(expected.begin(), first_slice());
    EXPECT_EQ(slices.ranges(asked), expected) << how;
  }
}

TEST(ReplicaOddSlices, AnOriginThatGivesTheWholeInMidAnswerIsAskedNoMore) {
  const Object object{numbered(object_bytes)};
  std::atomic<std::size_t> served{0};
  Slices slices([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.send(served.fetch_add(1) < 2 ? object.answer_to(request)
                                         : answer("200 OK", object.field_lines, object.body));
    }
  });
  expect_whole(slices.replica.get("/"), object.body);
  slices.replica.settle();
  expect_whole(slices.replica.get("/"), object.body);
  const std::size_t first = 2 * slice_bytes + 5;
  expect_part(slices.replica.get("/", range(first, object_bytes - 1)), object.body, first,
              object_bytes - 1);
  EXPECT_EQ(slices.origin.requests(), 3U);
}

TEST(ReplicaOddSlices, APurgeTakesAllSlicesWhateverTheTag) {
  const Object object{numbered(object_bytes)};
  Slices slices(serves(object));
  expect_whole(slices.replica.get("/"), object.body);
  slices.replica.settle();
  const auto purged = slices.replica.client().ask("PURGE / HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(purged.body, "purged 5 stored responses\n");
  EXPECT_EQ(slices.replica.store().entries, 0U);
  expect_whole(slices.replica.get("/"), object.body);
  EXPECT_EQ(slices.ranges(5), all_slices(object_bytes));
}

// RFC 9111 §4.4
TEST(ReplicaOddSlices, AfterAnUnsafeMethodOnlySlicesOfTheSameTagAreGood) {
  const std::vector<Object> objects{{numbered(object_bytes)},
                                    {std::string(object_bytes, 'n'), std::string(tagged_2)}};
  std::atomic<std::size_t> which{0};
  Slices slices([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.send(request.starts_with("POST") ? answer("200 OK", "", "")
                                             : objects.at(which).answer_to(request));
    }
  });
  const auto post = [&] {
    auto client = slices.replica.client();
    EXPECT_EQ(client.ask("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n").status,
              200);
    return slices.origin.requests();
  };
  expect_whole(slices.replica.get("/"), objects[0].body);
  slices.replica.settle();
  std::size_t asked = post();
  expect_whole(slices.replica.get("/"), objects[0].body);
  EXPECT_THAT(slices.ranges(asked), ElementsAre(first_slice()));
  slices.replica.settle();
  which = 1;
  asked = post();
  expect_whole(slices.replica.get("/"), objects[1].body);
  EXPECT_THAT(slices.ranges(asked), ElementsAreArray(all_slices(object_bytes)));
}

TEST(ReplicaOddSlices, AStoreThatDoesNotHoldAllSlicesGivesThemAll) {
  const Object object{numbered(50 * slice_bytes + 1)};
  Slices slices(serves(object), limits::kMiB);
  for (unsigned round = 0; round < 2; ++round) {
    expect_whole(slices.replica.get("/"), object.body);
    slices.replica.settle();
    expect_part(slices.replica.get("/", range(100'000, 900'000)), object.body, 100'000, 900'000);
    slices.replica.settle();
  }
  EXPECT_GT(slices.replica.store().evictions, 0U);
  EXPECT_LE(slices.replica.store().used_bytes, limits::kMiB);
}

// A slice that is larger than an object may be is streamed, and not stored.
TEST(ReplicaOddSlices, ASliceThatIsTooLargeToStoreIsGiven) {
  const Object object{numbered(3 * limits::kMiB)};
  Slices slices(serves(object), limits::kMiB);
  auto rules = in_slices();
  rules.slice_size_bytes = limits::kMiB;
  set_rules(slices.replica, rules);
  expect_whole(slices.replica.get("/"), object.body);
  const std::size_t middle = 2 * limits::kMiB + 7;
  expect_part(slices.replica.get("/", range(middle, middle + 9)), object.body, middle, middle + 9);
  slices.replica.settle();
  EXPECT_EQ(slices.replica.store().entries, 0U);
}

TEST(ReplicaOddSlices, OtherSliceSizesTakeWhatIsStoredForWhatItIs) {
  const Object object{numbered(object_bytes)};
  for (const std::size_t other : {slice_bytes / 2, slice_bytes * 2, slice_bytes * 3 / 2}) {
    Slices slices(serves(object));
    expect_whole(slices.replica.get("/"), object.body);
    slices.replica.settle();
    auto rules = in_slices();
    for (const std::size_t now : {other, slice_bytes}) {
      rules.slice_size_bytes = now;
      set_rules(slices.replica, rules);
      expect_whole(slices.replica.get("/"), object.body);
      slices.replica.settle();
      expect_part(slices.replica.get("/", range(10, 200'000)), object.body, 10, 200'000);
      slices.replica.settle();
    }
  }
}

TEST(ReplicaOddSlices, AClientThatLeavesEndsIt) {
  const Object object{numbered(object_bytes)};
  Gate go;
  Slices slices(
      [&](Stage& stage) {
        while (true) {
          const auto request = stage.read_request();
          if (support::field(request, "range") == slice(2, object_bytes)) stage.wait(go);
          stage.send(object.answer_to(request));
        }
      },
      16 * limits::kMiB, 1);
  auto client = slices.replica.client();
  client.send(get_request("/"));
  ASSERT_TRUE(eventually([&] { return slices.origin.requests() == 3; }));
  client.socket().reset();
  go.open();
  // Counted once it is over.
  EXPECT_TRUE(slices.replica.counts(Outcome::miss, 1));
  slices.replica.settle();
  EXPECT_EQ(slices.origin.requests(), 3U);
  EXPECT_EQ(slices.replica.store().entries, 3U);
}

}  // namespace
}  // namespace ringside::cache
