#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "k8s/reflection.h"
#include "tests/k8s/some_objects.h"

namespace ringside::k8s {
namespace {

using testing::ElementsAre;

EndpointSliceReflection listed(const std::string& version, std::vector<json> objects) {
  EndpointSliceReflection reflection;
  const auto outcome = reflection.listed(slices(version, std::move(objects)));
  EXPECT_TRUE(outcome) << outcome.error().message;
  return reflection;
}

json one_pod(const std::string& name, const std::string& version,
             const std::string& address = "10.0.0.1") {
  return slice_object(name, version, {endpoint_object("cache-0", address)});
}

std::vector<std::string> names(const EndpointSliceReflection& reflection) {
  std::vector<std::string> out;
  for (const auto& [name, slice] : reflection.values()) out.push_back(name);
  return out;
}

// The only endpoint of a slice of `endpoint`.
PodEndpoint read(const json& endpoint) {
  const auto reflection = listed("1", {slice_object("s", "1", {endpoint})});
  const auto& endpoints = reflection.values().at("s").endpoints;
  EXPECT_EQ(endpoints.size(), 1U);
  return endpoints.empty() ? PodEndpoint{} : endpoints[0];
}

TEST(EndpointSliceReflection, TakesAList) {
  const json conditions = {{"ready", false}, {"serving", true}, {"terminating", true}};
  const std::vector<json> endpoints = {endpoint_object("cache-0", "10.0.0.1"),
                                       endpoint_object("cache-1", "10.0.0.2", conditions)};
  const auto reflection = listed("44", {slice_object("cache-x", "41", endpoints)});
  EXPECT_EQ(reflection.resource_version(), "44");
  const EndpointSlice wanted{
      "cache-x",
      "41",
      {{"http", 8080}},
      {{"cache-0", *IpAddress::parse("10.0.0.1"), "zone-a", true, true, false},
       {"cache-1", *IpAddress::parse("10.0.0.2"), "zone-a", false, true, true}}};
  ASSERT_EQ(reflection.values().size(), 1U);
  EXPECT_EQ(reflection.values().at("cache-x"), wanted);
}

struct Conditions {
  json told;
  bool ready;
  bool serving;
  bool terminating;
};

TEST(EndpointSliceReflection, ReadsConditionsThatAreNotToldAsTheDocumentationSays) {
  const Conditions table[] = {
      {json::object(), true, true, false},
      {nullptr, true, true, false},
      {{{"ready", nullptr}, {"serving", nullptr}, {"terminating", nullptr}}, true, true, false},
      {{{"ready", true}}, true, true, false},
      {{{"ready", false}}, false, false, false},
      {{{"serving", false}}, true, false, false},
      {{{"ready", false}, {"serving", true}}, false, true, false},
      {{{"terminating", true}}, true, true, true},
      {{{"ready", false}, {"serving", true}, {"terminating", true}}, false, true, true},
      {{{"ready", false}, {"serving", false}, {"terminating", true}}, false, false, true},
  };
  for (const Conditions& row : table) {
    const PodEndpoint endpoint = read(endpoint_object("cache-0", "10.0.0.1", row.told));
    EXPECT_EQ(endpoint.ready, row.ready) << row.told;
    EXPECT_EQ(endpoint.serving, row.serving) << row.told;
    EXPECT_EQ(endpoint.terminating, row.terminating) << row.told;
  }
  json none = endpoint_object("cache-0", "10.0.0.1");
  none.erase("conditions");
  EXPECT_TRUE(read(none).ready);
}

TEST(EndpointSliceReflection, FindsTheZoneInBothVersions) {
  json endpoint = endpoint_object("cache-0", "10.0.0.1");
  EXPECT_EQ(read(endpoint).zone, "zone-a");
  endpoint["deprecatedTopology"] = {{"topology.kubernetes.io/zone", "no"}};
  EXPECT_EQ(read(endpoint).zone, "zone-a");
  endpoint["zone"] = nullptr;
  EXPECT_EQ(read(endpoint).zone, "");
  endpoint["topology"] = {{"kubernetes.io/hostname", "node-1"},
                          {"topology.kubernetes.io/zone", "zone-b"}};
  EXPECT_EQ(read(endpoint).zone, "zone-b");
  endpoint["topology"] = nullptr;
  EXPECT_EQ(read(endpoint).zone, "");
}

TEST(EndpointSliceReflection, TakesTheFirstAddress) {
  json endpoint = endpoint_object("cache-0", "10.0.0.1");
  endpoint["addresses"] = {"10.0.0.9", "10.0.0.1"};
  EXPECT_EQ(read(endpoint).address.text(), "10.0.0.9");
  EXPECT_EQ(read(endpoint_object("cache-0", "fd00:0::1")).address.text(), "fd00::1");
}

TEST(EndpointSliceReflection, LeavesOutWhatIsNoPodOfTheNamespace) {
  std::vector<json> others(5, endpoint_object("cache-0", "10.0.0.1"));
  others[0].erase("targetRef");
  others[1]["targetRef"] = nullptr;
  others[2]["targetRef"]["kind"] = "Node";
  others[3]["targetRef"]["namespace"] = "elsewhere";
  others[4]["targetRef"].erase("kind");
  const auto reflection = listed("1", {slice_object("s", "1", others)});
  EXPECT_TRUE(reflection.values().at("s").endpoints.empty());
  json unsaid = endpoint_object("cache-0", "10.0.0.1");
  unsaid["targetRef"].erase("namespace");
  EXPECT_EQ(read(unsaid).pod, "cache-0");
}

TEST(EndpointSliceReflection, LeavesOutSlicesOfOtherAddresses) {
  const json names_only =
      slice_object("f", "2", {endpoint_object("cache-0", "cache-0.example")}, "FQDN");
  auto reflection =
      listed("5", {names_only, one_pod("s", "3"), slice_object("six", "4", {}, "IPv6")});
  EXPECT_THAT(names(reflection), ElementsAre("s", "six"));
  EXPECT_TRUE(is_change(reflection.event(event_of("ADDED", names_only)), false));
  json newer = names_only;
  newer["metadata"]["resourceVersion"] = "9";
  EXPECT_TRUE(is_change(reflection.event(event_of("ADDED", newer)), false));
  EXPECT_TRUE(is_change(reflection.event(event_of("DELETED", newer)), false));
  EXPECT_EQ(reflection.resource_version(), "9");
  EXPECT_THAT(names(reflection), ElementsAre("s", "six"));
}

TEST(EndpointSliceReflection, TakesTcpPortsThatHaveANumber) {
  json object = one_pod("s", "1");
  object["ports"] = {{{"name", "a"}, {"port", 1}},
                     {{"name", "b"}, {"port", 2}, {"protocol", nullptr}},
                     {{"name", "c"}, {"port", 3}, {"protocol", "UDP"}},
                     {{"name", "d"}, {"port", nullptr}, {"protocol", "TCP"}},
                     {{"name", nullptr}, {"port", 65535}, {"protocol", "TCP"}},
                     {{"name", "e"}, {"port", 5}, {"protocol", "SCTP"}}};
  const std::vector<NamedPort> wanted{{"a", 1}, {"b", 2}, {"", 65535}};
  EXPECT_EQ(listed("1", {object}).values().at("s").ports, wanted);
}

TEST(EndpointSliceReflection, TakesNullForEmptyLists) {
  json object = one_pod("s", "1");
  object["endpoints"] = nullptr;
  object["ports"] = nullptr;
  const auto reflection = listed("1", {object});
  EXPECT_TRUE(reflection.values().at("s").endpoints.empty());
  EXPECT_TRUE(reflection.values().at("s").ports.empty());
  EndpointSliceReflection none;
  ASSERT_TRUE(none.listed(R"({"kind": "EndpointSliceList", "items": null,
                              "metadata": {"resourceVersion": "5"}})"));
  EXPECT_TRUE(none.values().empty());
  EXPECT_EQ(none.resource_version(), "5");
}

TEST(EndpointSliceReflection, FollowsEvents) {
  auto reflection = listed("10", {one_pod("a", "5")});
  EXPECT_TRUE(is_change(reflection.event(event_of("ADDED", one_pod("b", "11"))), true));
  EXPECT_THAT(names(reflection), ElementsAre("a", "b"));
  EXPECT_TRUE(is_change(reflection.event(event_of("MODIFIED", one_pod("b", "12"))), false));
  EXPECT_EQ(reflection.values().at("b").resource_version, "12");
  const json moved = one_pod("b", "13", "10.0.0.2");
  EXPECT_TRUE(is_change(reflection.event(event_of("MODIFIED", moved)), true));
  json other_port = moved;
  other_port["metadata"]["resourceVersion"] = "14";
  other_port["ports"][0]["port"] = 8081;
  EXPECT_TRUE(is_change(reflection.event(event_of("MODIFIED", other_port)), true));
  EXPECT_TRUE(is_change(reflection.event(bookmark_of("EndpointSlice", "20")), false));
  EXPECT_EQ(reflection.resource_version(), "20");
  EXPECT_TRUE(is_change(reflection.event(event_of("DELETED", one_pod("a", "21"))), true));
  EXPECT_THAT(names(reflection), ElementsAre("b"));
  EXPECT_EQ(reflection.resource_version(), "21");
}

TEST(EndpointSliceReflection, ChangesNothingForEventsThatComeLateOrTwice) {
  auto reflection = listed("100", {one_pod("a", "90"), one_pod("b", "95")});
  const auto comes = [&](const char* type, const json& object) {
    return reflection.event(event_of(type, object));
  };
  EXPECT_TRUE(is_change(comes("MODIFIED", one_pod("a", "101", "10.0.0.7")), true));
  EXPECT_TRUE(is_change(comes("MODIFIED", one_pod("a", "101", "10.0.0.7")), false));
  EXPECT_TRUE(is_change(comes("MODIFIED", one_pod("a", "99", "10.0.0.8")), false));
  EXPECT_TRUE(is_change(comes("DELETED", one_pod("a", "98")), false));
  EXPECT_EQ(reflection.values().at("a").endpoints[0].address.text(), "10.0.0.7");

  EXPECT_TRUE(is_change(comes("DELETED", one_pod("b", "110")), true));
  EXPECT_TRUE(is_change(comes("DELETED", one_pod("b", "110")), false));
  EXPECT_TRUE(is_change(comes("MODIFIED", one_pod("b", "105")), false));
  EXPECT_TRUE(is_change(comes("MODIFIED", one_pod("b", "110")), false));
  EXPECT_THAT(names(reflection), ElementsAre("a"));
  EXPECT_TRUE(is_change(comes("ADDED", one_pod("b", "111")), true));
  EXPECT_THAT(names(reflection), ElementsAre("a", "b"));

  EXPECT_TRUE(is_change(comes("ADDED", one_pod("c", "97")), false));  // the list didn't have it
  EXPECT_THAT(names(reflection), ElementsAre("a", "b"));
  EXPECT_EQ(reflection.resource_version(), "111");
}

TEST(EndpointSliceReflection, RemembersADeletionThatCameBeforeItsAdding) {
  auto reflection = listed("100", {});
  EXPECT_TRUE(is_change(reflection.event(event_of("DELETED", one_pod("a", "120"))), false));
  EXPECT_TRUE(is_change(reflection.event(event_of("ADDED", one_pod("a", "110"))), false));
  EXPECT_TRUE(reflection.values().empty());
}

TEST(EndpointSliceReflection, AListReplacesAll) {
  auto reflection = listed("100", {one_pod("a", "90"), one_pod("b", "95")});
  EXPECT_TRUE(is_change(reflection.event(event_of("DELETED", one_pod("b", "110"))), true));
  const std::string restored = slices("50", {one_pod("b", "40"), one_pod("c", "41")});
  ASSERT_TRUE(reflection.listed(restored));  // from a backup: older than what was known
  EXPECT_THAT(names(reflection), ElementsAre("b", "c"));
  EXPECT_EQ(reflection.resource_version(), "50");
  EXPECT_TRUE(is_change(reflection.event(event_of("ADDED", one_pod("a", "51"))), true));
  EXPECT_TRUE(is_change(reflection.event(event_of("DELETED", one_pod("b", "52"))), true));
  EXPECT_THAT(names(reflection), ElementsAre("a", "c"));
}

struct BadSlice {
  const char* where;
  json value;
  const char* word;
};

TEST(EndpointSliceReflection, ChangesNothingAfterAFailure) {
  const BadSlice table[] = {
      {"/metadata/name", "", "metadata.name is missing"},
      {"/metadata/name", 4, "metadata.name is of type number"},
      {"/metadata/resourceVersion", nullptr, "metadata.resourceVersion is missing"},
      {"/addressType", nullptr, "addressType is missing"},
      {"/addressType", 4, "addressType is of type number"},
      {"/endpoints", "none", "endpoints is of type string"},
      {"/endpoints/0", 1, "endpoints[0] is of type number"},
      {"/endpoints/0/addresses", json::array(), "endpoints[0].addresses is missing or empty"},
      {"/endpoints/0/addresses", nullptr, "endpoints[0].addresses is missing or empty"},
      {"/endpoints/0/addresses", "10.0.0.1", "endpoints[0].addresses is of type string"},
      {"/endpoints/0/addresses/0", 1, "endpoints[0].addresses[0] is of type number"},
      {"/endpoints/0/addresses/0", "10.0.0.256", "is \"10.0.0.256\", no IP address"},
      {"/endpoints/0/addresses/0", "a\nb", "is \"a?b\", no IP address"},
      {"/endpoints/0/conditions", json::array(), "endpoints[0].conditions is of type array"},
      {"/endpoints/0/conditions/ready", "yes", "conditions.ready is of type string"},
      {"/endpoints/0/conditions/serving", 1, "conditions.serving is of type number"},
      {"/endpoints/0/conditions/terminating", 0, "conditions.terminating is of type number"},
      {"/endpoints/0/targetRef", "cache-0", "endpoints[0].targetRef is of type string"},
      {"/endpoints/0/targetRef/name", nullptr, "targetRef.name is missing"},
      {"/endpoints/0/zone", 3, "endpoints[0].zone is of type number"},
      {"/endpoints/0/zone", std::string(64, 'z'), "at most 63 bytes"},
      {"/endpoints/0/zone", "a b", "is \"a b\"; a zone"},
      {"/ports", 8080, "ports is of type number"},
      {"/ports/0/port", "8080", "ports[0].port is of type string"},
      {"/ports/0/port", 0, "ports[0].port is 0, no port"},
      {"/ports/0/port", 65536, "ports[0].port is 65536, no port"},
      {"/ports/0/name", 1, "ports[0].name is of type number"},
      {"/ports/0/protocol", 6, "ports[0].protocol is of type number"},
  };
  auto reflection = listed("44", {one_pod("s", "41")});
  const auto before = reflection.values();
  for (const BadSlice& row : table) {
    json object = one_pod("s", "45", "10.0.0.9");
    object[json::json_pointer(row.where)] = row.value;
    const auto list = reflection.listed(slices("50", {one_pod("t", "46"), object}));
    EXPECT_TRUE(failed_as(list, FailureReason::malformed, row.word)) << row.where << row.value;
    const auto event = reflection.event(event_of("MODIFIED", object));
    EXPECT_TRUE(failed_as(event, FailureReason::malformed, row.word)) << row.where << row.value;
    EXPECT_EQ(reflection.values(), before) << row.where;
    EXPECT_EQ(reflection.resource_version(), "44") << row.where;
  }
}

TEST(EndpointSliceReflection, RefusesMoreSlicesThanTheLimit) {
  std::vector<json> many;
  for (std::size_t i = 0; i < limits::endpoint_slices; ++i) {
    many.push_back(one_pod(fmt::format("s-{}", i), "5"));
  }
  auto reflection = listed("10", many);
  EXPECT_EQ(reflection.values().size(), limits::endpoint_slices);
  const std::string one_more = event_of("ADDED", one_pod("more", "11"));
  EXPECT_TRUE(failed_as(reflection.event(one_more), FailureReason::malformed, "more than 1024"));
  EXPECT_EQ(reflection.resource_version(), "10");
  EXPECT_TRUE(is_change(reflection.event(event_of("DELETED", one_pod("s-7", "12"))), true));
  EXPECT_TRUE(is_change(reflection.event(one_more), true));
  many.push_back(one_pod("more", "5"));
  EXPECT_TRUE(
      failed_as(reflection.listed(slices("20", many)), FailureReason::malformed, "selector"));
  EXPECT_EQ(reflection.resource_version(), "12");
}

TEST(EndpointSliceReflection, RemembersNoMoreDeletionsThanTheLimit) {
  auto reflection = listed("10", {});
  for (std::size_t i = 0; i <= limits::endpoint_slices; ++i) {
    const json object = one_pod(fmt::format("s-{}", i), std::to_string(1000 + i));
    ASSERT_TRUE(is_change(reflection.event(event_of("DELETED", object)), false));
  }
  EXPECT_TRUE(is_change(reflection.event(event_of("ADDED", one_pod("s-1", "500"))), false));
  EXPECT_TRUE(is_change(reflection.event(event_of("ADDED", one_pod("s-0", "500"))), true));
}

}  // namespace
}  // namespace ringside::k8s
