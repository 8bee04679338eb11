#include "hop/topology_news.h"

#include <gtest/gtest.h>

#include <string>

#include "http/internal_fields.h"

namespace ringside::hop {
namespace {

constexpr SteadyPoint start{Milliseconds{1'000}};

struct Source {
  Source() {
    news.read_again_by([this] { ++reads; });
    news.follow("one");
  }
  TopologyNews news;
  unsigned reads = 0;
};

TEST(TopologyNews, AnUnknownIdHasTheSourceReadAgain) {
  Source source;
  source.news.hear("one", start);
  source.news.hear(http::internal::no_topology, start);
  EXPECT_EQ(source.reads, 0U);
  source.news.hear("two", start);
  EXPECT_EQ(source.reads, 1U);
}

// A peer that is behind is no reason to ask.
TEST(TopologyNews, WhatWasFollowedIsKnown) {
  Source source;
  for (std::size_t i = 1; i < limits::topologies_remembered; ++i) {
    source.news.follow(std::to_string(i));
  }
  source.news.hear("one", start);
  EXPECT_EQ(source.reads, 0U);
  source.news.follow("1");
  source.news.follow("1");
  source.news.hear("one", start);
  EXPECT_EQ(source.reads, 1U) << "it is too long ago";
}

// One whose topology stays unknown, because it was told to follow another one, is not asked about
// all the time.
TEST(TopologyNews, TheSourceIsReadSeldomUntilItHasSomethingNew) {
  Source source;
  const auto hear = [&source](Milliseconds after) { source.news.hear("two", start + after); };
  hear(Milliseconds{0});
  hear(limits::reread_pause - Milliseconds{1});
  EXPECT_EQ(source.reads, 1U);
  hear(limits::reread_pause);
  hear(limits::reread_pause * 3 - Milliseconds{1});
  EXPECT_EQ(source.reads, 2U);
  hear(limits::reread_pause * 3);
  EXPECT_EQ(source.reads, 3U);
  for (int second = 0; second < 3'600; ++second) hear(Seconds{10 + second});
  EXPECT_LT(source.reads, 3U + 10U + 3'600U / 60U);

  const unsigned before = source.reads;
  source.news.follow("two");
  source.news.hear("three", start + Seconds{4'000});
  source.news.hear("three", start + Seconds{4'001});
  EXPECT_EQ(source.reads, before + 2) << "the pause is short again";
}

TEST(TopologyNews, WithoutASourceNothingIsRead) {
  Source source;
  source.news.read_again_by({});
  source.news.hear("two", start);
  EXPECT_EQ(source.reads, 0U);
  source.news.read_again_by([&source] { ++source.reads; });
  source.news.hear("two", start);
  EXPECT_EQ(source.reads, 1U) << "it is not counted as read before";
}

}  // namespace
}  // namespace ringside::hop
