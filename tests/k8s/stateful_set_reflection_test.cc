#include <gtest/gtest.h>

#include "base/limits.h"
#include "k8s/reflection.h"
#include "tests/k8s/some_objects.h"

namespace ringside::k8s {
namespace {

StatefulSetReflection listed(const std::string& version, const json& object) {
  StatefulSetReflection reflection("cache");
  const auto outcome = reflection.listed(sets(version, {object}));
  EXPECT_TRUE(outcome) << outcome.error().message;
  return reflection;
}

TEST(StatefulSetReflection, KnowsNothingBeforeItsList) {
  const StatefulSetReflection reflection("cache");
  EXPECT_EQ(reflection.resource_version(), "");
  EXPECT_EQ(reflection.value(), std::nullopt);
}

TEST(StatefulSetReflection, TakesAList) {
  json object = set_object("41");
  object["metadata"]["annotations"]["ringside.dev/weight"] = "2";
  object["spec"]["ordinals"]["start"] = 5;
  const auto reflection = listed("44", object);
  EXPECT_EQ(reflection.resource_version(), "44");
  const StatefulSet wanted{"cache", "41", 7, 3, 5, "cache", "2"};
  EXPECT_EQ(reflection.value(), wanted);
}

TEST(StatefulSetReflection, TakesWhatGoServersLeaveOut) {
  json object = set_object("41");
  object["spec"].erase("replicas");
  object["metadata"]["annotations"] = nullptr;
  object["spec"]["ordinals"] = nullptr;
  object["metadata"].erase("generation");
  const StatefulSet wanted{"cache", "41", 0, 1, 0, "cache", ""};
  EXPECT_EQ(listed("44", object).value(), wanted);
  object["spec"]["replicas"] = nullptr;
  EXPECT_EQ(listed("44", object).value(), wanted);
}

TEST(StatefulSetReflection, LooksForItsOwn) {
  StatefulSetReflection reflection("cache");
  json other = set_object("1");
  other["metadata"]["name"] = "cache-of-others";
  other["spec"] = "what is in it is no matter";
  ASSERT_TRUE(reflection.listed(sets("5", {other, set_object("3")})));
  EXPECT_EQ(reflection.value()->resource_version, "3");
  EXPECT_TRUE(failed_as(reflection.listed(sets("6", {other})), FailureReason::not_found,
                        "no StatefulSet \"cache\""));
  EXPECT_TRUE(is_change(reflection.event(event_of("MODIFIED", other)), false));
  EXPECT_TRUE(is_change(reflection.event(event_of("DELETED", other)), false));
  EXPECT_EQ(reflection.value()->resource_version, "3");
}

TEST(StatefulSetReflection, KeepsWhatWasKnownWhereTheListHasNone) {
  auto reflection = listed("44", set_object("41"));
  const std::string none = sets("50", {});
  EXPECT_TRUE(failed_as(reflection.listed(none), FailureReason::not_found, "kubectl get"));
  EXPECT_EQ(reflection.resource_version(), "44");
  EXPECT_TRUE(reflection.value());
  const std::string null_items = R"({"kind": "StatefulSetList", "items": null,
                                     "metadata": {"resourceVersion": "50"}})";
  EXPECT_TRUE(failed_as(reflection.listed(null_items), FailureReason::not_found));
  EXPECT_TRUE(reflection.value());
}

TEST(StatefulSetReflection, TellsChangesFromNoise) {
  auto reflection = listed("44", set_object("41"));
  EXPECT_TRUE(is_change(reflection.event(event_of("MODIFIED", set_object("45"))), false));
  EXPECT_EQ(reflection.value()->resource_version, "45");
  EXPECT_EQ(reflection.resource_version(), "45");

  const auto changed = [&](const std::string& version, const json::json_pointer& where,
                           const json& to) {
    json object = set_object(version);
    object[where] = to;
    return reflection.event(event_of("MODIFIED", object));
  };
  using Pointer = json::json_pointer;
  EXPECT_TRUE(is_change(changed("46", Pointer("/spec/replicas"), 4), true));
  EXPECT_TRUE(is_change(changed("47", Pointer("/spec/replicas"), 4), false));
  EXPECT_TRUE(is_change(changed("48", Pointer("/metadata/generation"), 8), true));
  EXPECT_TRUE(
      is_change(changed("49", Pointer("/metadata/annotations/ringside.dev~1weight"), "3"), true));
  EXPECT_EQ(reflection.value()->weight, "3");
  EXPECT_TRUE(is_change(changed("50", Pointer("/spec/ordinals/start"), 1), true));
  EXPECT_TRUE(is_change(changed("51", Pointer("/spec/serviceName"), "other"), true));
  EXPECT_TRUE(is_change(changed("52", Pointer("/status/readyReplicas"), 1), true));  // all back
  EXPECT_TRUE(is_change(changed("53", Pointer("/status/readyReplicas"), 2), false));
}

TEST(StatefulSetReflection, ChangesNothingForWhatIsOlder) {
  auto reflection = listed("44", set_object("41", 3));
  const auto modified = [&](const std::string& version, std::uint64_t replicas) {
    return reflection.event(event_of("MODIFIED", set_object(version, replicas)));
  };
  EXPECT_TRUE(is_change(modified("100", 5), true));
  EXPECT_TRUE(is_change(modified("99", 4), false));  // by number, not by letters
  EXPECT_TRUE(is_change(modified("100", 5), false));
  EXPECT_TRUE(is_change(reflection.event(event_of("DELETED", set_object("98"))), false));
  EXPECT_EQ(reflection.value()->replicas, 5U);
  EXPECT_EQ(reflection.value()->resource_version, "100");
  EXPECT_EQ(reflection.resource_version(), "100");
}

TEST(StatefulSetReflection, TakesEventsAsTheyComeWhereVersionsAreNoNumbers) {
  auto reflection = listed("b", set_object("b", 3));
  EXPECT_TRUE(is_change(reflection.event(event_of("MODIFIED", set_object("a", 4))), true));
  EXPECT_EQ(reflection.resource_version(), "a");
  EXPECT_TRUE(is_change(reflection.event(event_of("MODIFIED", set_object("7", 5))), true));
  EXPECT_TRUE(is_change(reflection.event(event_of("MODIFIED", set_object("6x", 6))), true));
  EXPECT_EQ(reflection.resource_version(), "6x");
}

TEST(StatefulSetReflection, MovesOnlyTheVersionWithBookmarks) {
  auto reflection = listed("44", set_object("41"));
  const auto before = reflection.value();
  EXPECT_TRUE(is_change(reflection.event(bookmark_of("StatefulSet", "70")), false));
  EXPECT_EQ(reflection.resource_version(), "70");
  EXPECT_TRUE(is_change(reflection.event(bookmark_of("StatefulSet", "60")), false));
  EXPECT_EQ(reflection.resource_version(), "70");
  EXPECT_EQ(reflection.value(), before);
}

TEST(StatefulSetReflection, KeepsWhatWasDeletedUntilItIsThereAgain) {
  auto reflection = listed("44", set_object("41"));
  EXPECT_TRUE(failed_as(reflection.event(event_of("DELETED", set_object("45"))),
                        FailureReason::not_found, "was deleted"));
  EXPECT_EQ(reflection.value()->replicas, 3U);
  EXPECT_EQ(reflection.resource_version(), "44");
  json anew = set_object("47", 5);
  anew["metadata"]["generation"] = 1;
  EXPECT_TRUE(is_change(reflection.event(event_of("ADDED", anew)), true));
  EXPECT_EQ(reflection.value()->generation, 1U);
}

TEST(StatefulSetReflection, ListsReplaceWhateverIsHeld) {
  auto reflection = listed("44", set_object("41", 3));
  ASSERT_TRUE(reflection.listed(sets("9", {set_object("8", 2)})));  // a restored backup
  EXPECT_EQ(reflection.value()->replicas, 2U);
  EXPECT_EQ(reflection.resource_version(), "9");
  reflection.forget_version();
  EXPECT_EQ(reflection.resource_version(), "");
  EXPECT_TRUE(reflection.value());
}

struct BadSet {
  const char* where;
  json value;
  const char* word;
};

TEST(StatefulSetReflection, ChangesNothingAfterAFailure) {
  const BadSet table[] = {
      {"/metadata", 1, "metadata is of type number, not an object"},
      {"/metadata/resourceVersion", 45, "metadata.resourceVersion is of type number"},
      {"/metadata/resourceVersion", nullptr, "metadata.resourceVersion is missing"},
      {"/metadata/generation", "7", "metadata.generation is of type string"},
      {"/metadata/generation", -7, "metadata.generation is negative"},
      {"/metadata/annotations", json::array(), "metadata.annotations is of type array"},
      {"/metadata/annotations", {{"ringside.dev/weight", 2}}, "weight is of type number"},
      {"/spec", json::array(), "spec is of type array"},
      {"/spec/replicas", "3", "spec.replicas is of type string"},
      {"/spec/replicas", -1, "spec.replicas is negative"},
      {"/spec/replicas", 1.5, "spec.replicas is negative, too large or has a fraction"},
      {"/spec/replicas", limits::members + 1, "a tier has at most 1024: run `kubectl scale`"},
      {"/spec/ordinals", 1, "spec.ordinals is of type number"},
      {"/spec/ordinals", {{"start", -1}}, "spec.ordinals.start is negative"},
      {"/spec/ordinals", {{"start", 2147483648}}, "spec.ordinals.start is 2147483648"},
      {"/spec/serviceName", "", "no spec.serviceName"},
      {"/spec/serviceName", nullptr, "with the name of a headless Service"},
      {"/spec/serviceName", 1, "spec.serviceName is of type number"},
  };
  auto reflection = listed("44", set_object("41"));
  const auto before = reflection.value();
  for (const BadSet& row : table) {
    json object = set_object("45", 9);
    object[json::json_pointer(row.where)] = row.value;
    const auto list = reflection.listed(sets("50", {object}));
    EXPECT_TRUE(failed_as(list, FailureReason::malformed, row.word)) << row.where;
    const auto event = reflection.event(event_of("MODIFIED", object));
    EXPECT_TRUE(failed_as(event, FailureReason::malformed, row.word)) << row.where;
    EXPECT_EQ(reflection.value(), before) << row.where;
    EXPECT_EQ(reflection.resource_version(), "44") << row.where;
  }
  EXPECT_TRUE(reflection.listed(sets("50", {set_object("45", limits::members)})));
}

TEST(StatefulSetReflection, RefusesWhatIsNoList) {
  const std::pair<std::string, const char*> table[] = {
      {"", "no JSON"},
      {"{}", "kind is \"\", not StatefulSetList"},
      {R"({"kind": "Status", "code": 200})", "kind is \"Status\", not StatefulSetList"},
      {slices("5", {}), "kind is \"EndpointSliceList\""},
      {R"({"kind": "StatefulSetList"})", "metadata.resourceVersion is missing"},
      {R"({"kind": "StatefulSetList", "metadata": {"resourceVersion": ""}})",
       "metadata.resourceVersion is missing"},
      {R"({"kind": "StatefulSetList", "metadata": {"resourceVersion": "1"}, "items": {}})",
       "items is of type object"},
      {R"({"kind": "StatefulSetList", "metadata": {"resourceVersion": "1", "continue": "abc"}})",
       "not the whole list"},
      {R"({"kind": "StatefulSetList", "metadata": {"resourceVersion": "1"}, "items": [7]})",
       "items[0] is of type number"},
      {sets("5", {set_object("5")}).substr(0, 200), "no JSON"},
  };
  auto reflection = listed("44", set_object("41"));
  for (const auto& [body, word] : table) {
    EXPECT_TRUE(failed_as(reflection.listed(body), FailureReason::malformed, word)) << body;
    EXPECT_EQ(reflection.resource_version(), "44") << body;
  }
}

TEST(StatefulSetReflection, RefusesWhatIsNoEvent) {
  const std::pair<std::string, const char*> table[] = {
      {"nothing", "no JSON"},
      {"{}", "type is \"\", no event"},
      {"[]", "the whole is of type array"},
      {event_of("RENAMED", set_object("45")), "type is \"RENAMED\""},
      {R"({"type": "ADDED"})", "object.kind is \"\", not StatefulSet"},
      {R"({"type": "ADDED", "object": []})", "object is of type array"},
      {event_of("ADDED", slice_object("s", "45", {})), "object.kind is \"EndpointSlice\""},
      {bookmark_of("StatefulSet", ""), "object.metadata.resourceVersion is missing"},
      {R"({"type": "ERROR", "object": "gone"})", "object is of type string"},
  };
  auto reflection = listed("44", set_object("41"));
  for (const auto& [line, word] : table) {
    EXPECT_TRUE(failed_as(reflection.event(line), FailureReason::malformed, word)) << line;
    EXPECT_EQ(reflection.resource_version(), "44") << line;
  }
}

TEST(StatefulSetReflection, SaysWhyTheServerEndsAWatch) {
  auto reflection = listed("44", set_object("41"));
  const auto error = [&](int code, const char* reason) {
    return reflection.event(error_event(code, reason, "too\nold"));
  };
  EXPECT_TRUE(failed_as(error(410, "Expired"), FailureReason::gone, "too old"));
  EXPECT_TRUE(failed_as(error(410, ""), FailureReason::gone, "listed again"));
  EXPECT_TRUE(failed_as(error(500, "Expired"), FailureReason::gone));
  EXPECT_TRUE(failed_as(error(0, "Gone"), FailureReason::gone));
  EXPECT_TRUE(failed_as(error(500, "InternalError"), FailureReason::other, "500 InternalError"));
  EXPECT_TRUE(failed_as(error(403, "Forbidden"), FailureReason::forbidden));
  EXPECT_TRUE(failed_as(error(401, "Unauthorized"), FailureReason::unauthorized));
  EXPECT_TRUE(failed_as(error(429, "TooManyRequests"), FailureReason::throttled));
  const auto bare = reflection.event(R"({"type": "ERROR", "object": null})");
  EXPECT_TRUE(failed_as(bare, FailureReason::other));
  EXPECT_EQ(reflection.resource_version(), "44");
}

}  // namespace
}  // namespace ringside::k8s
