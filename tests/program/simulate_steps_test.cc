#include "program/simulate_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::program {
namespace {

using testing::HasSubstr;

TEST(SimulateSteps, AreNumbersWithoutSomeOfTheirReplicas) {
  const auto steps = parse_steps("2, 3-cache-0,12-cache-1-cache-11", {});
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), 3U);
  EXPECT_EQ((*steps)[0].title, "2");
  EXPECT_EQ((*steps)[0].members,
            (std::vector<shard::Member>{{"cache-0", 1, ""}, {"cache-1", 1, ""}}));
  EXPECT_EQ((*steps)[1].members,
            (std::vector<shard::Member>{{"cache-1", 1, ""}, {"cache-2", 1, ""}}));
  EXPECT_EQ((*steps)[2].members.size(), 10U);
}

TEST(SimulateSteps, WeightsAreOfAllOrOfEach) {
  const auto all = parse_steps("2,3", {"cache-0=2,cache-2=0"});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ((*all)[0].members[0].weight, 2U);
  EXPECT_EQ((*all)[1].members[2].weight, 0U);
  EXPECT_EQ((*all)[0].title, "2");
  const auto each = parse_steps("2,2", {"-", "cache-1=3"});
  ASSERT_TRUE(each) << each.error().message;
  EXPECT_EQ((*each)[0].members[1].weight, 1U);
  EXPECT_EQ((*each)[0].title, "2");
  EXPECT_EQ((*each)[1].members[1].weight, 3U);
  EXPECT_EQ((*each)[1].title, "2 (cache-1=3)");
}

TEST(SimulateSteps, RefusesWhatIsNone) {
  struct Case {
    const char* replicas;
    std::vector<std::string> weights;
    const char* why;
  };
  const std::vector<Case> cases{
      {"", {}, "--replicas"},
      {"0", {}, "--replicas: \"0\" is no number from 1 to"},
      {"1025", {}, "is no number from 1 to 1024"},
      {"ten", {}, "is no number"},
      {"10,", {}, "is no number"},
      {"3-cache-3", {}, "takes away what is no replica of it"},
      {"3-cache-", {}, "takes away what is no replica of it"},
      {"3-2", {}, "takes away what is no replica of it"},
      {"3-cache-1x", {}, "takes away what is no replica of it"},
      {"1-cache-0", {}, "leaves no replica"},
      {"2", {"cache-0"}, "--weights: \"cache-0\" is no weight"},
      {"2", {"cache-0=-1"}, "--weights: \"cache-0=-1\": "},
      {"2", {"cache-0=x"}, "--weights: \"cache-0=x\": "},
      {"2", {"cache-0=1,cache-0=2"}, "stands twice"},
      {"2", {"cache-2=1"}, "is no replica of its step"},
      {"2,3,4", {"-", "-"}, "given 2 times for 3 steps"},
      {"1", {"cache-0=0"}, "--weights: of the replicas of \"1\""},
      {"20", {"cache-0=1001"}, "--weights"},
  };
  for (const Case& one : cases) {
    const auto steps = parse_steps(one.replicas, one.weights);
    ASSERT_FALSE(steps) << one.replicas << ' ' << testing::PrintToString(one.weights);
    EXPECT_THAT(steps.error().message, HasSubstr(one.why)) << one.replicas;
  }
}

TEST(SimulateSchemes, AreAllOrThoseNamed) {
  EXPECT_GE(parse_schemes("")->size(), 9U);
  EXPECT_EQ(*parse_schemes("vbucket, ring"), (std::vector<std::string>{"vbucket", "ring"}));
  EXPECT_THAT(parse_schemes("rung").error().message,
              testing::AllOf(HasSubstr("--schemes: there is no scheme \"rung\""),
                             HasSubstr("jump, maglev")));
  EXPECT_THAT(parse_schemes("ring,ring").error().message, HasSubstr("stands twice"));
}

}  // namespace
}  // namespace ringside::program
