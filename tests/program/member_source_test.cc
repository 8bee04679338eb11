#include "program/member_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside::program {
namespace {

using testing::HasSubstr;

TEST(MemberSource, KubernetesIsANamespaceAStatefulSetAndAPort) {
  struct Case {
    std::string text;
    k8s::Target expected;
  };
  const std::vector<Case> cases{
      {"cache", {"", "cache", ""}},
      {"shop/cache", {"shop", "cache", ""}},
      {"shop/cache:http", {"shop", "cache", "http"}},
      {"cache:8080", {"", "cache", "8080"}},
      {"a/b.c-d.e:65535", {"a", "b.c-d.e", "65535"}},
  };
  for (const Case& one : cases) {
    const auto target = parse_kubernetes_target(one.text);
    ASSERT_TRUE(target) << one.text;
    EXPECT_EQ(*target, one.expected) << one.text;
    EXPECT_EQ(target_text(*target), one.text);
  }
}

TEST(MemberSource, DnsIsANameAndAPort) {
  struct Case {
    std::string text;
    k8s::DnsTarget expected;
  };
  const std::vector<Case> cases{
      {"cache", {"cache", ""}},
      {"cache.shop.svc.cluster.local:http", {"cache.shop.svc.cluster.local", "http"}},
      {"cache.example.:8080", {"cache.example.", "8080"}},
  };
  for (const Case& one : cases) {
    const auto target = parse_dns_target(one.text);
    ASSERT_TRUE(target) << one.text;
    EXPECT_EQ(*target, one.expected) << one.text;
    EXPECT_EQ(target_text(*target), one.text);
  }
}

TEST(MemberSource, WhatMakesNoSenseIsRefusedWithARemedy) {
  const std::string long_label(64, 'a');
  const std::string long_name = std::string(63, 'a') + "." + std::string(63, 'b') + "." +
                                std::string(63, 'c') + "." + std::string(63, 'd');
  struct Case {
    std::string text;
    std::string says;
  };
  const std::vector<Case> for_kubernetes{
      {"", "no StatefulSet's name"},
      {"/cache", "no namespace"},
      {"shop/", "no StatefulSet's name"},
      {"a.b/cache", "no namespace"},
      {"Shop/cache", "no namespace"},
      {"a/b/c", "no StatefulSet's name"},
      {"cache:", "no port"},
      {"cache:0", "port"},
      {"cache:65536", "port"},
      {"cache:a:b", "no port"},
      {"cache:-a", "no port"},
      {"cache:abcdefghijklmnop", "no port"},
      {"-cache", "no StatefulSet's name"},
      {"cache_1", "no StatefulSet's name"},
      {long_label, "no StatefulSet's name"},
      {long_name, "no StatefulSet's name"},
      {"a..b", "no StatefulSet's name"},
      {"a b", "no StatefulSet's name"},
  };
  for (const Case& one : for_kubernetes) {
    const auto target = parse_kubernetes_target(one.text);
    ASSERT_FALSE(target) << one.text;
    EXPECT_THAT(target.error().message, HasSubstr(one.says)) << one.text;
  }
  for (const Case& one : std::vector<Case>{{"", "no host name"},
                                           {".", "no host name"},
                                           {"10.0.0.1", "no host name"},
                                           {"a/b", "no host name"},
                                           {"a..", "no host name"},
                                           {"a:", "no port"}}) {
    const auto target = parse_dns_target(one.text);
    ASSERT_FALSE(target) << one.text;
    EXPECT_THAT(target.error().message, HasSubstr(one.says)) << one.text;
  }
}

}  // namespace
}  // namespace ringside::program
