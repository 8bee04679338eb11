#include "k8s/assembly.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/k8s/some_objects.h"

namespace ringside::k8s {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Slices = std::map<std::string, EndpointSlice>;

StatefulSet set_of(std::uint64_t replicas) {
  return {"cache", "1", 7, replicas, 0, "cache-headless", ""};
}

PodEndpoint pod(const std::string& name, const std::string& address) {
  PodEndpoint out;
  out.pod = name;
  out.address = *IpAddress::parse(address);
  return out;
}

PodEndpoint pod(const std::string& name, const std::string& address, bool ready, bool serving,
                bool terminating) {
  PodEndpoint out = pod(name, address);
  out.ready = ready;
  out.serving = serving;
  out.terminating = terminating;
  return out;
}

Slices one(std::vector<NamedPort> ports, std::vector<PodEndpoint> endpoints) {
  return {{"s", {"s", "1", std::move(ports), std::move(endpoints)}}};
}

Assembled assembled(const StatefulSet& set, const Slices& slices, const std::string& port = "") {
  const auto outcome = assemble(set, slices, {"shop", "cache", port});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *outcome : Assembled{};
}

// Where cache-0 is.
std::string place(const Slices& slices, const std::string& port = "") {
  const Assembled out = assembled(set_of(1), slices, port);
  const Endpoint& address = out.roster.replicas.at(0).address;
  return address.host.empty() ? "nowhere" : address.text();
}

TEST(Assembly, MembersAreTheStatefulSetsNamesWhereverTheyAre) {
  StatefulSet set = set_of(3);
  set.weight = "cache-2=4";
  PodEndpoint first = pod("cache-0", "10.0.0.1");
  first.zone = "zone-a";
  const Slices slices =
      one({{"http", 8080}},
          {first, pod("cache-1", "10.0.0.2", false, true, true), pod("cache-9", "10.0.0.9"),
           pod("other-0", "10.0.0.8"), pod("cache", "10.0.0.7")});
  const Assembled out = assembled(set, slices);
  const std::vector<Replica> wanted{
      {"cache-0", 1, {"10.0.0.1", 8080}, "zone-a", true, true, false},
      {"cache-1", 1, {"10.0.0.2", 8080}, "", false, true, true},
      {"cache-2", 4, {"", 0}, "", false, false, false},
  };
  EXPECT_EQ(out.roster.version, 7U);
  EXPECT_EQ(out.roster.replicas, wanted);
  EXPECT_EQ(out.doubt, "");
}

TEST(Assembly, NumbersFromTheFirstOrdinal) {
  StatefulSet set = set_of(2);
  set.first_ordinal = 4;
  const Assembled out = assembled(set, one({{"http", 1}}, {pod("cache-5", "10.0.0.5")}));
  ASSERT_EQ(out.roster.replicas.size(), 2U);
  EXPECT_EQ(out.roster.replicas[0].name, "cache-4");
  EXPECT_EQ(out.roster.replicas[1].address.host, "10.0.0.5");
}

struct Ports {
  std::vector<NamedPort> ports;
  std::string wanted;
  std::string place;
};

TEST(Assembly, ChoosesThePort) {
  const Ports table[] = {
      {{{"http", 80}}, "", "10.0.0.1:80"},
      {{{"admin", 90}, {"http", 80}}, "", "10.0.0.1:80"},
      {{{"web", 81}}, "", "10.0.0.1:81"},
      {{{"", 82}}, "", "10.0.0.1:82"},
      {{{"admin", 90}, {"web", 81}}, "", "nowhere"},
      {{}, "", "nowhere"},
      {{{"admin", 90}, {"web", 81}}, "web", "10.0.0.1:81"},
      {{{"admin", 90}, {"http", 80}}, "web", "nowhere"},
      {{{"admin", 90}}, "web", "nowhere"},
      {{}, "web", "nowhere"},
      {{}, "8080", "10.0.0.1:8080"},
      {{{"http", 80}}, "65535", "10.0.0.1:65535"},
      {{{"8o", 80}}, "8o", "10.0.0.1:80"},
  };
  for (const Ports& row : table) {
    const Slices slices = one(row.ports, {pod("cache-0", "10.0.0.1")});
    EXPECT_EQ(place(slices, row.wanted), row.place) << row.wanted;
    const Assembled out = assembled(set_of(1), slices, row.wanted);
    EXPECT_EQ(out.doubt.empty(), row.place != "nowhere") << out.doubt;
    EXPECT_EQ(out.roster.replicas[0].ready, row.place != "nowhere");
    EXPECT_EQ(out.roster.replicas[0].serving, row.place != "nowhere");
  }
  for (const char* port : {"0", "65536", "99999999999999999999"}) {
    const auto out = assemble(set_of(1), {}, {"shop", "cache", port});
    EXPECT_TRUE(failed_as(out, FailureReason::other, "a number from 1 to 65535")) << port;
  }
}

TEST(Assembly, EachSliceHasItsPort) {
  Slices slices = one({{"http", 8080}}, {pod("cache-0", "10.0.0.1")});
  slices["t"] = {"t", "2", {{"http", 8081}}, {pod("cache-1", "10.0.0.2")}};
  slices["u"] = {"u", "3", {}, {pod("cache-2", "10.0.0.3")}};
  const Assembled out = assembled(set_of(3), slices);
  EXPECT_EQ(out.roster.replicas[0].address.port, 8080);
  EXPECT_EQ(out.roster.replicas[1].address.port, 8081);
  EXPECT_EQ(out.roster.replicas[2].address, Endpoint{});
  EXPECT_THAT(out.doubt, HasSubstr("no port named http"));
}

struct Rivals {
  const char* what;
  PodEndpoint winner;
  PodEndpoint loser;
};

TEST(Assembly, TakesTheBestOfSeveralWhateverTheirOrder) {
  const auto at = [](const char* address, bool ready, bool serving, bool terminating) {
    return pod("cache-0", address, ready, serving, terminating);
  };
  const Rivals table[] = {
      {"not terminating", at("10.0.0.9", false, false, false), at("10.0.0.1", true, true, true)},
      {"ready", at("10.0.0.9", true, false, false), at("10.0.0.1", false, true, false)},
      {"serving", at("10.0.0.9", true, true, false), at("10.0.0.1", true, false, false)},
      {"serving while it ends", at("fd00::1", false, true, true),
       at("10.0.0.1", false, false, true)},
      {"IPv4", at("200.0.0.1", true, true, false), at("::1", true, true, false)},
      {"ready, of the other family", at("fd00::1", true, true, false),
       at("10.0.0.1", false, true, false)},
      {"smaller", at("9.0.0.200", true, true, false), at("10.0.0.1", true, true, false)},
      {"smaller, of IPv6", at("fd00::2", true, true, false), at("fd00::10", true, true, false)},
  };
  for (const Rivals& row : table) {
    const std::string wanted = Endpoint{row.winner.address.text(), 80}.text();
    const EndpointSlice with_winner{"", "1", {{"http", 80}}, {row.winner}};
    const EndpointSlice with_loser{"", "1", {{"http", 80}}, {row.loser}};
    EXPECT_EQ(place({{"a", with_winner}, {"b", with_loser}}), wanted) << row.what;
    EXPECT_EQ(place({{"a", with_loser}, {"b", with_winner}}), wanted) << row.what;
    EXPECT_EQ(place(one({{"http", 80}}, {row.loser, row.winner, row.loser})), wanted) << row.what;
  }
}

TEST(Assembly, TakesTheSliceThatHasThePortThenTheSmallerPort) {
  const EndpointSlice without{"", "1", {}, {pod("cache-0", "10.0.0.1")}};
  const EndpointSlice later{"", "1", {{"http", 81}}, {pod("cache-0", "10.0.0.1")}};
  const EndpointSlice sooner{"", "1", {{"http", 80}}, {pod("cache-0", "10.0.0.1")}};
  const EndpointSlice six{"", "1", {{"http", 80}}, {pod("cache-0", "fd00::1")}};
  EXPECT_EQ(place({{"a", without}, {"b", later}}), "10.0.0.1:81");
  EXPECT_EQ(place({{"a", later}, {"b", without}}), "10.0.0.1:81");
  EXPECT_EQ(place({{"a", later}, {"b", sooner}}), "10.0.0.1:80");
  EXPECT_EQ(place({{"a", sooner}, {"b", later}}), "10.0.0.1:80");
  EXPECT_EQ(place({{"a", without}, {"b", six}}), "[fd00::1]:80");
}

TEST(Assembly, NewRequestsGoToWhatServesAndDoesNotEnd) {
  const auto replica = [](bool ready, bool serving, bool terminating) {
    const auto endpoint = pod("cache-0", "10.0.0.1", ready, serving, terminating);
    return assembled(set_of(1), one({{"http", 80}}, {endpoint})).roster.replicas.at(0);
  };
  EXPECT_TRUE(replica(true, true, false).ready);
  EXPECT_FALSE(replica(false, true, false).ready);
  // With publishNotReadyAddresses `ready` is always true.
  EXPECT_FALSE(replica(true, false, false).ready);
  EXPECT_FALSE(replica(true, true, true).ready);
  EXPECT_TRUE(replica(true, true, true).serving);
  EXPECT_TRUE(replica(true, true, true).terminating);
  EXPECT_EQ(replica(true, false, false).address.host, "10.0.0.1");
}

TEST(Assembly, TellsWhatSeemsWrong) {
  const Slices none;
  const Slices empty = one({{"http", 80}}, {});
  const Slices others = one({{"http", 80}}, {pod("web-0", "10.0.0.1")});
  const Slices no_ports = one({}, {pod("cache-0", "10.0.0.1")});
  const Slices two = one({{"admin", 9090}, {"", 80}}, {pod("cache-0", "10.0.0.1")});
  const auto doubt = [](const Slices& slices, const std::string& port = "") {
    return assembled(set_of(2), slices, port).doubt;
  };
  EXPECT_THAT(doubt(none), HasSubstr("no EndpointSlice of the Service \"cache-headless\" in "
                                     "namespace \"shop\": is there such a Service"));
  EXPECT_THAT(doubt(none), HasSubstr("spec.serviceName of StatefulSet \"cache\""));
  EXPECT_THAT(doubt(empty), HasSubstr("has no pods yet"));
  EXPECT_THAT(doubt(others), HasSubstr("pods like \"web-0\" and none that is called cache-0"));
  EXPECT_THAT(doubt(others), HasSubstr("does its selector match"));
  EXPECT_THAT(doubt(no_ports), HasSubstr("has no TCP port"));
  EXPECT_THAT(doubt(no_ports), HasSubstr("--kubernetes shop/cache:PORT"));
  EXPECT_THAT(doubt(two), HasSubstr("no port named http, but admin (9090), without a name (80)"));
  EXPECT_THAT(doubt(two, "web"), HasSubstr("no port named \"web\", but admin"));
  EXPECT_THAT(doubt(two, "web"), HasSubstr("--kubernetes shop/cache:PORT"));
  EXPECT_EQ(doubt(two, "80"), "");
  EXPECT_EQ(doubt(two, "admin"), "");
}

TEST(Assembly, AStatefulSetOfNoneIsNotDoubtful) {
  const Assembled out = assembled(set_of(0), {});
  EXPECT_THAT(out.roster.replicas, IsEmpty());
  EXPECT_EQ(out.doubt, "");
}

TEST(Assembly, IsRefusedWithWeightsThatMakeNoSense) {
  StatefulSet set = set_of(2);
  set.weight = "much";
  EXPECT_TRUE(failed_as(assemble(set, {}, {"shop", "cache", ""}), FailureReason::malformed));
}

TEST(Assembly, PutsAThousandPodsOfTenSlicesInTheirPlaces) {
  std::vector<json> objects;
  for (std::size_t slice = 0; slice < 10; ++slice) {
    std::vector<json> endpoints;
    for (std::size_t i = 0; i < 100; ++i) {
      const std::size_t ordinal = i * 10 + slice;
      endpoints.push_back(endpoint_object(fmt::format("cache-{}", ordinal),
                                          fmt::format("10.1.{}.{}", ordinal / 250, ordinal % 250)));
    }
    objects.push_back(slice_object(fmt::format("cache-{}", slice), "5", endpoints));
  }
  EndpointSliceReflection reflection;
  ASSERT_TRUE(reflection.listed(slices("9", objects)));
  const Assembled out = assembled(set_of(1000), reflection.values());
  ASSERT_EQ(out.roster.replicas.size(), 1000U);
  for (std::size_t i = 0; i < 1000; ++i) {
    const Replica wanted{fmt::format("cache-{}", i),
                         1,
                         {fmt::format("10.1.{}.{}", i / 250, i % 250), 8080},
                         "zone-a",
                         true,
                         true,
                         false};
    ASSERT_EQ(out.roster.replicas[i], wanted) << i;
  }
}

}  // namespace
}  // namespace ringside::k8s
