#include "program/membership_news.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tier/some_membership.h"

namespace ringside::program {
namespace {

using tier::membership_of;

TEST(MembershipNews, TellWhoCameAndWhoLeft) {
  const auto before = membership_of({"a", "b"});
  EXPECT_EQ(change_text(*before, *membership_of({"b", "c"}, 2), "PUT /topology"),
            "topology: version 1 -> 2, 2 -> 2 replicas: +c -a; by PUT /topology");
  EXPECT_EQ(change_text(*before, *membership_of({"a", "b"}, 2, "maglev"), "a reload"),
            "topology: version 1 -> 2, 2 -> 2 replicas; scheme ring -> maglev; by a reload");
  EXPECT_EQ(change_text(*before, *membership_of({"a", "b"}), "discovery"), "");
}

TEST(MembershipNews, NameAFewOfMany) {
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) many.push_back("cache-" + std::to_string(i));
  const auto text = change_text(*membership_of({}), *membership_of(many, 2), "discovery");
  EXPECT_NE(text.find("0 -> 100 replicas: +cache-0 +cache-1 "), std::string::npos) << text;
  EXPECT_NE(text.find(" and 84 more; by discovery"), std::string::npos) << text;
}

}  // namespace
}  // namespace ringside::program
