#include "k8s/stateful_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "tests/k8s/some_objects.h"

namespace ringside::k8s {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StatefulSet of(std::uint64_t replicas, std::string weight = "", std::uint64_t first = 0) {
  StatefulSet set;
  set.name = "cache";
  set.replicas = replicas;
  set.first_ordinal = first;
  set.weight = std::move(weight);
  return set;
}

TEST(StatefulSet, NamesItsReplicas) {
  EXPECT_THAT(of(3).replica_names(), ElementsAre("cache-0", "cache-1", "cache-2"));
  EXPECT_THAT(of(2, "", 9).replica_names(), ElementsAre("cache-9", "cache-10"));
  EXPECT_THAT(of(0).replica_names(), IsEmpty());
}

struct GoodWeights {
  StatefulSet set;
  std::vector<std::uint32_t> weights;
};

TEST(StatefulSet, ReadsWeights) {
  const GoodWeights table[] = {
      {of(3), {1, 1, 1}},
      {of(3, " \n"), {1, 1, 1}},
      {of(3, "2"), {2, 2, 2}},
      {of(3, " 1000 "), {1000, 1000, 1000}},
      {of(0, "2"), {}},
      {of(0, "0"), {}},
      {of(3, "cache-1=0"), {1, 0, 1}},
      {of(3, "cache-0=0,cache-2=4"), {0, 1, 4}},
      {of(3, "cache-1=5"), {1, 5, 1}},
      {of(3, "cache-0=2,cache-2=4"), {2, 1, 4}},
      {of(3, "\tcache-0 = 2 ,\n cache-2=4 "), {2, 1, 4}},
      {of(3, "cache-2=4,cache-0=2"), {2, 1, 4}},
      {of(2, "cache-1=2,cache-2=3,cache-99=4"), {1, 2}},  // before a scale-up, after a scale-down
      {of(2, "cache-4=2,cache-5=3,cache-6=4,cache-7=5", 5), {3, 4}},
      {of(12, "cache-11=3"), {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3}},
  };
  for (const GoodWeights& row : table) {
    const auto weights = weights_of(row.set);
    ASSERT_TRUE(weights) << row.set.weight << ": " << weights.error().message;
    EXPECT_EQ(*weights, row.weights) << row.set.weight;
  }
}

TEST(StatefulSet, RefusesWeightsThatMakeNoSense) {
  const std::pair<const char*, const char*> table[] = {
      {"1001", "the weight \"1001\""},
      {"-1", "the weight \"-1\""},
      {"+1", "the weight \"+1\""},
      {"1.5", "the weight \"1.5\""},
      {"two", "the weight \"two\""},
      {"18446744073709551617", "the weight"},
      {"cache-0=", "the weight \"\""},
      {"cache-0=1=2", "the weight \"1=2\""},
      {"cache-0=1 2", "the weight \"1 2\""},
      {"=2", "names \"\""},
      {"web-0=2", "names \"web-0\""},
      {"cache=2", "names \"cache\""},
      {"cache-=2", "names \"cache-\""},
      {"cache-x=2", "names \"cache-x\""},
      {"cache-00=2", "names \"cache-00\""},
      {"cache-01=2", "names \"cache-01\""},
      {"cache--1=2", "names \"cache--1\""},
      {"cache-0x=2", "names \"cache-0x\""},
      {"cache0=2", "names \"cache0\""},
      {"cache-99999999999=2", "names \"cache-99999999999\""},
      {"cache-0=2,cache-0=2", "names cache-0 twice"},
      {"cache-99=2,cache-99=2", "names cache-99 twice"},
      {"cache-0=2,", "\"\" among weights"},
      {",", "\"\" among weights"},
      {"2,cache-0=3", "\"2\" among weights"},
      {"2,2,2", "\"2\" among weights"},
  };
  for (const auto& [text, word] : table) {
    const auto weights = weights_of(of(3, text));
    EXPECT_TRUE(failed_as(weights, FailureReason::malformed, word)) << text;
    ASSERT_FALSE(weights) << text;
    EXPECT_THAT(weights.error().message, HasSubstr("`cache-0=2,cache-3=4`"));
    EXPECT_THAT(weights.error().message, HasSubstr("ringside.dev/weight"));
  }
}

TEST(StatefulSet, RefusesThatAllAreDrained) {
  for (const char* const text : {"0", "cache-0=0,cache-1=0,cache-2=0"}) {
    EXPECT_TRUE(failed_as(weights_of(of(3, text)), FailureReason::malformed,
                          "weights of its 3 replicas are all 0"))
        << text;
  }
  EXPECT_TRUE(failed_as(weights_of(of(1, "0")), FailureReason::malformed, "at least 1"));
}

TEST(StatefulSet, RefusesMoreWeightThanATopologyHas) {
  EXPECT_TRUE(weights_of(of(1024, "16")));
  EXPECT_TRUE(failed_as(weights_of(of(1024, "17")), FailureReason::malformed, "add up to 17408"));
  EXPECT_TRUE(weights_of(of(16, "1000")));
  EXPECT_TRUE(failed_as(weights_of(of(17, "1000")), FailureReason::malformed, "at most 16384"));
}

}  // namespace
}  // namespace ringside::k8s
