#include "k8s/dns_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ringside::k8s {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

IpAddress address(std::string_view text) { return *IpAddress::parse(text); }

// What name servers know. Of all else they say that there is none.
class Zone {
 public:
  void set(const std::string& name, RecordType type, Outcome<DnsRecords> answer) {
    answers_.insert_or_assign({name, type}, std::move(answer));
  }
  void fail(const std::string& name, RecordType type) {
    set(name, type, Failure{FailureReason::unreachable, name + ": silence", {}});
  }
  void services(const std::string& name, std::vector<ServiceRecord> services,
                std::vector<AddressRecord> additional = {}) {
    set(name, RecordType::srv,
        DnsRecords{std::move(services), {}, std::move(additional), Seconds{30}});
  }
  void addresses(const std::string& name, RecordType type, const std::vector<std::string>& texts) {
    DnsRecords records;
    for (const std::string& each : texts) records.addresses.push_back({name, address(each)});
    records.ttl = Seconds{7};
    set(name, type, records);
  }

  Outcome<DnsAnswer> ask(const DnsTarget& target, const SearchList& search = {}) {
    asked.clear();
    return ask_for_hosts(target, search, found_, [this](const std::string& name, RecordType type) {
      asked.push_back(name);
      const auto at = answers_.find({name, type});
      return at != answers_.end()
                 ? at->second
                 : Outcome<DnsRecords>(Failure{FailureReason::not_found, name + ": none", {}});
    });
  }

  std::vector<std::string> asked;  // in the last round

 private:
  std::map<std::pair<std::string, RecordType>, Outcome<DnsRecords>> answers_;
  DnsFound found_;
};

const std::string service = "_http._tcp.c.test";

TEST(DnsRound, NamesAreTriedAsResolvConfSays) {
  const SearchList cluster{{"shop.svc.cluster.local", "svc.cluster.local"}, 5};
  struct Case {
    std::string name;
    SearchList search;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases{
      {"c", {}, {"c"}},
      {"c", cluster, {"c.shop.svc.cluster.local", "c.svc.cluster.local", "c"}},
      {"a.b.c.d.e",
       cluster,
       {"a.b.c.d.e.shop.svc.cluster.local", "a.b.c.d.e.svc.cluster.local", "a.b.c.d.e"}},
      {"a.b.c.d.e.f",
       cluster,
       {"a.b.c.d.e.f", "a.b.c.d.e.f.shop.svc.cluster.local", "a.b.c.d.e.f.svc.cluster.local"}},
      {"c.", cluster, {"c."}},
      {"c", {{".", "test"}, 1}, {"c.test", "c"}},
      {std::string(253, 'x'), {{"test"}, 1}, {std::string(253, 'x')}},
      {std::string(254, 'x'), {}, {}},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(names_to_ask(one.name, one.search), one.expected) << one.name;
  }
}

TEST(DnsRound, AServiceWithItsAddressesIsOneQuestion) {
  Zone zone;
  zone.services(service, {{"c-0.c.test", 8080}, {"c-1.c.test", 8081}},
                {{"c-1.c.test", address("::5")},
                 {"c-1.c.test", address("10.0.0.9")},
                 {"c-1.c.test", address("10.0.0.2")},
                 {"c-0.c.test", address("fd00::7")},
                 {"x.c.test", address("10.0.0.1")}});
  const auto answer = zone.ask({"c.test", ""});
  ASSERT_TRUE(answer) << answer.error().message;
  const DnsAnswer expected{
      service, {{"c-0", {"fd00::7", 8080}}, {"c-1", {"10.0.0.2", 8081}}}, Seconds{30}};
  EXPECT_EQ(*answer, expected);
  EXPECT_THAT(zone.asked, ElementsAre(service));
}

TEST(DnsRound, TargetsWithoutAnAddressAreAskedFor) {
  Zone zone;
  zone.services(service, {{"c-0.c.test", 80}, {"c-1.c.test", 80}, {"c-2.c.test", 80}});
  zone.addresses("c-0.c.test", RecordType::a, {"10.0.0.5", "10.0.0.4"});
  zone.addresses("c-1.c.test", RecordType::aaaa, {"fd00::1"});
  const auto answer = zone.ask({"c.test", "http"});
  ASSERT_TRUE(answer) << answer.error().message;
  const DnsAnswer expected{
      service, {{"c-0", {"10.0.0.4", 80}}, {"c-1", {"fd00::1", 80}}, {"c-2", {}}}, Seconds{7}};
  EXPECT_EQ(*answer, expected);

  zone.fail("c-1.c.test", RecordType::a);  // which is not the word that there is none
  EXPECT_EQ(zone.ask({"c.test", "http"}).error().reason, FailureReason::unreachable);
}

TEST(DnsRound, AddressesAloneNameTheReplicas) {
  Zone zone;
  zone.addresses("c.test", RecordType::a, {"10.0.0.2", "10.0.0.1"});
  zone.addresses("c.test", RecordType::aaaa, {"fd00::1"});
  auto answer = zone.ask({"c.test", "8080"});
  ASSERT_TRUE(answer) << answer.error().message;
  const DnsAnswer expected{
      "c.test", {{"10.0.0.2", {"10.0.0.2", 8080}}, {"10.0.0.1", {"10.0.0.1", 8080}}}, Seconds{7}};
  EXPECT_EQ(*answer, expected);
  EXPECT_THAT(zone.asked, ElementsAre("c.test"));

  zone.fail("c.test", RecordType::a);  // each pod would be another replica by its other address
  EXPECT_EQ(zone.ask({"c.test", "8080"}).error().reason, FailureReason::unreachable);

  zone.addresses("c.test", RecordType::a, {});
  answer = zone.ask({"c.test", "8080"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->hosts, (std::vector<DnsHost>{{"fd00::1", {"fd00::1", 8080}}}));
}

TEST(DnsRound, OnceFoundANameIsLookedForNoFurther) {
  const SearchList search{{"one", "two", "three"}, 9};
  Zone zone;
  zone.addresses("c.two", RecordType::a, {"10.0.0.2"});
  zone.addresses("c.three", RecordType::a, {"10.0.0.3"});
  ASSERT_TRUE(zone.ask({"c", "80"}, search));
  EXPECT_THAT(zone.asked, ElementsAre("c.one", "c.one", "c.two"));

  zone.fail("c.one", RecordType::a);  // it was found elsewhere, so that is nothing to us
  ASSERT_TRUE(zone.ask({"c", "80"}, search));

  zone.addresses("c.one", RecordType::a, {});
  zone.addresses("c.two", RecordType::a, {});
  EXPECT_EQ(zone.ask({"c", "80"}, search).error().reason, FailureReason::not_found);

  zone.addresses("c.one", RecordType::a, {"10.0.0.1"});
  EXPECT_EQ(zone.ask({"c", "80"}, search)->name, "c.one");

  const auto elsewhere = zone.ask({"c", "80"}, {{"three"}, 9});  // resolv.conf has changed
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->name, "c.three");
}

TEST(DnsRound, AtFirstAFailureIsNotPassedOver) {
  Zone zone;
  zone.fail("c.one", RecordType::a);
  zone.addresses("c.two", RecordType::a, {"10.0.0.2"});
  const auto answer = zone.ask({"c", "80"}, {{"one", "two"}, 9});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::unreachable);
  EXPECT_THAT(zone.asked, ElementsAre("c.one"));
}

TEST(DnsRound, ServicesThatAreNoReplicasAreRefused) {
  struct Case {
    std::vector<ServiceRecord> services;
    FailureReason reason;
    std::string says;
  };
  const std::vector<Case> cases{
      {{{"c_0.c.test", 80}}, FailureReason::malformed, "\"c_0.c.test\", port 80, which is no"},
      {{{"c\\0000.c.test", 80}}, FailureReason::malformed, "no replica"},
      {{{std::string(64, 'x') + ".test", 80}}, FailureReason::malformed, "no replica"},
      {{{".test", 80}}, FailureReason::malformed, "no replica"},
      {{{"c-0.c.test", 0}}, FailureReason::malformed, "port 0"},
      {{{"c-0.c.test", 80}, {"c-0.d.test", 80}}, FailureReason::malformed, "both"},
      {{{"c.test", 80}}, FailureReason::malformed, "clusterIP: None"},
      {{{"", 0}}, FailureReason::not_found, "has no SRV record"},
  };
  for (const Case& one : cases) {
    Zone zone;
    zone.services(service, one.services);
    const auto answer = zone.ask({"c.test", "http"});
    ASSERT_FALSE(answer) << one.says;
    EXPECT_EQ(answer.error().reason, one.reason) << one.says;
    if (one.reason == FailureReason::malformed) {
      EXPECT_THAT(answer.error().message, HasSubstr(one.says));
    }
  }
}

TEST(DnsRound, WhatIsNotFoundHasARemedy) {
  Zone zone;
  EXPECT_THAT(
      zone.ask({"c.test", ""}).error().message,
      HasSubstr("there is no _http._tcp.c.test; a headless service has such records while"));
  zone.addresses("c.test", RecordType::a, {"10.0.0.1"});
  const auto answer = zone.ask({"c.test", "metrics"});
  EXPECT_EQ(answer.error().reason, FailureReason::not_found);
  EXPECT_EQ(answer.error().message,
            "c.test has addresses but no SRV records for a port named metrics; name a port that "
            "the service has, or write its number: c.test:8080");
  EXPECT_THAT(zone.ask({std::string(250, 'x'), ""}).error().message, HasSubstr("too long"));
}

}  // namespace
}  // namespace ringside::k8s
