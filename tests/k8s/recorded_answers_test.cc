// What a real API server answered: tests/k8s/recorded/README.md tells how each file came about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "k8s/api_answer.h"
#include "k8s/event_lines.h"
#include "tests/k8s/some_objects.h"

namespace ringside::k8s {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string recorded(const std::string& file) {
  std::ifstream stream(RINGSIDE_SOURCE_DIR "/tests/k8s/recorded/" + file);
  EXPECT_TRUE(stream) << file;
  std::ostringstream out;
  out << stream.rdbuf();
  return out.str();
}

// One line for each replica, and the doubt.
std::vector<std::string> told(const StatefulSetReflection& set,
                              const EndpointSliceReflection& slices) {
  const auto assembled =
      assemble(set.value().value(), slices.values(), {"shop", "ringside-cache", ""});
  EXPECT_TRUE(assembled) << assembled.error().message;
  std::vector<std::string> out;
  for (const Replica& replica : assembled->roster.replicas) {
    out.push_back(replica.name + " " +
                  (replica.address.host.empty() ? "nowhere" : replica.address.text()) +
                  (replica.ready ? " ready" : "") + (replica.serving ? " serving" : "") +
                  (replica.terminating ? " terminating" : ""));
  }
  if (!assembled->doubt.empty()) out.push_back(assembled->doubt);
  return out;
}

StatefulSetReflection recorded_set() {
  StatefulSetReflection set("ringside-cache");
  const auto listed = set.listed(recorded("stateful_sets.json"));
  EXPECT_TRUE(listed) << listed.error().message;
  return set;
}

EndpointSliceReflection recorded_slices(const std::string& file) {
  EndpointSliceReflection slices;
  const auto listed = slices.listed(recorded(file));
  EXPECT_TRUE(listed) << listed.error().message;
  return slices;
}

// Feeds a recorded watch in pieces; what each event said.
template <class EachLine>
void feed(const std::string& file, EachLine each) {
  EventLines lines;
  const std::string bytes = recorded(file);
  constexpr std::size_t piece_size = 1000;
  for (std::size_t at = 0; at < bytes.size(); at += piece_size) {
    const auto fed =
        lines.add(std::string_view(bytes).substr(at, piece_size), [&](std::string_view line) {
          each(line);
          return Outcome<void>();
        });
    ASSERT_TRUE(fed) << fed.error().message;
  }
  EXPECT_FALSE(lines.has_unfinished());
}

TEST(RecordedAnswers, TellTheStatefulSet) {
  const auto set = recorded_set();
  EXPECT_EQ(set.resource_version(), "664");
  const StatefulSet wanted{"ringside-cache", "659", 1, 3, 0, "ringside-cache", ""};
  EXPECT_EQ(set.value(), wanted);
}

TEST(RecordedAnswers, TellWhereReplicasAre) {
  const auto set = recorded_set();
  EXPECT_THAT(told(set, recorded_slices("slices_one_ready.json")),
              ElementsAre("ringside-cache-0 10.244.0.7:8080 ready serving",
                          "ringside-cache-1 10.244.0.8:8080", "ringside-cache-2 10.244.0.9:8080"));
  EXPECT_THAT(told(set, recorded_slices("slices_all_ready.json")),
              ElementsAre("ringside-cache-0 10.244.0.7:8080 ready serving",
                          "ringside-cache-1 10.244.0.8:8080 ready serving",
                          "ringside-cache-2 10.244.0.9:8080 ready serving"));
  EXPECT_THAT(told(set, recorded_slices("slices_terminating.json")),
              ElementsAre("ringside-cache-0 10.244.0.7:8080 ready serving",
                          "ringside-cache-1 10.244.0.8:8080 serving terminating",
                          "ringside-cache-2 10.244.0.9:8080 ready serving"));
}

TEST(RecordedAnswers, TellThatNothingIsThere) {
  auto set = recorded_set();
  EXPECT_TRUE(failed_as(set.listed(recorded("stateful_sets_none.json")), FailureReason::not_found));
  const auto slices = recorded_slices("slices_none.json");
  EXPECT_EQ(slices.resource_version(), "746");
  EXPECT_THAT(told(set, slices).back(), HasSubstr("there is no EndpointSlice of the Service"));
}

TEST(RecordedAnswers, TellHowAStatefulSetGrowsAndIsDeleted) {
  auto set = recorded_set();
  std::vector<std::uint64_t> sizes;
  std::size_t deletions = 0;
  feed("stateful_set_watch.events", [&](std::string_view line) {
    const auto changed = set.event(line);
    if (!changed) {
      EXPECT_TRUE(failed_as(changed, FailureReason::not_found, "was deleted"));
      ++deletions;
    } else if (*changed) {
      sizes.push_back(set.value()->replicas);
    }
  });
  EXPECT_THAT(sizes, ElementsAre(4U));
  EXPECT_EQ(set.value()->generation, 2U);
  EXPECT_EQ(deletions, 1U);
  EXPECT_EQ(set.resource_version(), "723");  // of the bookmarks after it
}

TEST(RecordedAnswers, TellHowPodsComeAndGo) {
  const auto set = recorded_set();
  auto slices = recorded_slices("slices_one_ready.json");
  std::vector<std::vector<std::string>> states;
  feed("slices_watch.events", [&](std::string_view line) {
    const auto changed = slices.event(line);
    ASSERT_TRUE(changed) << changed.error().message;
    if (!*changed) return;
    auto state = told(set, slices);
    if (states.empty() || states.back() != state) states.push_back(std::move(state));
  });
  const std::string zero = "ringside-cache-0 10.244.0.7:8080 ready serving";
  const std::string two = "ringside-cache-2 10.244.0.9:8080";
  ASSERT_GE(states.size(), 4U);
  EXPECT_THAT(states[0], ElementsAre(zero, "ringside-cache-1 10.244.0.8:8080 ready serving", two));
  const std::vector<std::string> ending{
      zero, "ringside-cache-1 10.244.0.8:8080 serving terminating", two + " ready serving"};
  EXPECT_THAT(states, testing::Contains(ending));
  const std::vector<std::string> ended{zero, "ringside-cache-1 nowhere", two + " ready serving"};
  EXPECT_THAT(states, testing::Contains(ended));
  EXPECT_THAT(states.back(),
              ElementsAre("ringside-cache-0 nowhere", "ringside-cache-1 nowhere",
                          "ringside-cache-2 nowhere", HasSubstr("there is no EndpointSlice")));
  EXPECT_TRUE(slices.values().empty());
  EXPECT_EQ(slices.resource_version(), "734");
}

TEST(RecordedAnswers, TellTheSameFromTheStart) {
  StatefulSetReflection set("ringside-cache");
  feed("stateful_set_watch_from_the_start.events", [&](std::string_view line) {
    const auto changed = set.event(line);
    ASSERT_TRUE(changed) << changed.error().message;
  });
  EXPECT_EQ(set.value().value().replicas, 4U);
  EndpointSliceReflection slices;
  feed("slices_watch_from_the_start.events", [&](std::string_view line) {
    const auto changed = slices.event(line);
    ASSERT_TRUE(changed) << changed.error().message;
  });
  EXPECT_EQ(slices.values().size(), 2U);
}

TEST(RecordedAnswers, ComingAgainFromTheStartChangeNothing) {
  auto slices = recorded_slices("slices_one_ready.json");
  const auto take = [&](std::string_view line) {
    const auto changed = slices.event(line);
    ASSERT_TRUE(changed) << changed.error().message;
  };
  feed("slices_watch.events", take);
  const auto before = slices.values();
  feed("slices_watch.events", take);
  EXPECT_EQ(slices.values(), before);
  EXPECT_EQ(slices.resource_version(), "734");
}

TEST(RecordedAnswers, TellThatAWatchCannotGoOn) {
  auto set = recorded_set();
  std::size_t lines = 0;
  feed("gone_watch.events", [&](std::string_view line) {
    ++lines;
    EXPECT_TRUE(failed_as(set.event(line), FailureReason::gone, "resource version: 2 (747)"));
  });
  EXPECT_EQ(lines, 1U);
  EXPECT_EQ(set.resource_version(), "664");
}

struct Refusal {
  const char* file;
  int status;
  FailureReason reason;
  const char* word;
};

TEST(RecordedAnswers, TellWhyNot) {
  const Refusal table[] = {
      {"unauthorized.json", 401, FailureReason::unauthorized, "does not believe the token"},
      {"anonymous.json", 403, FailureReason::forbidden, "given nothing to know us by"},
      {"forbidden_list_sets.json", 403, FailureReason::forbidden,
       "(as system:serviceaccount:shop:nobody): give the ServiceAccount a Role"},
      {"forbidden_list_slices.json", 403, FailureReason::forbidden,
       "(as system:serviceaccount:shop:nobody): give the ServiceAccount a Role"},
      {"forbidden_watch_sets.json", 403, FailureReason::forbidden,
       "(as system:serviceaccount:shop:nobody): give the ServiceAccount a Role"},
      {"forbidden_watch_slices.json", 403, FailureReason::forbidden,
       "(as system:serviceaccount:shop:nobody): give the ServiceAccount a Role"},
      {"slices_v1_absent.json", 404, FailureReason::not_found, "has the cluster that API group"},
      {"not_found_set.json", 404, FailureReason::not_found, "\"no-such\" not found"},
      {"not_a_selector.json", 400, FailureReason::other, "not a known field selector"},
      {"gone_list.json", 410, FailureReason::gone, "too old"},
      {"future_list.json", 504, FailureReason::gone, "Too large resource version"},
  };
  for (const Refusal& row : table) {
    const Failure failure = failure_of(row.status, "", recorded(row.file),
                                       {"list", "statefulsets.apps", "shop"}, "FILE");
    EXPECT_EQ(failure.reason, row.reason) << row.file << ": " << failure.message;
    EXPECT_THAT(failure.message, HasSubstr(row.word)) << row.file;
  }
  const Failure wait = failure_of(504, "", recorded("future_list.json"), {}, "");
  EXPECT_EQ(wait.retry_after, Seconds(1));
}

TEST(RecordedAnswers, TellTheVersionOfSlices) {
  const auto version = endpoint_slice_version(recorded("discovery_group.json"));
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(*version, "v1beta1");
}

}  // namespace
}  // namespace ringside::k8s
