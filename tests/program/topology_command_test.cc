#include "program/topology_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/purge_command.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;

// As `GET /topology` tells it.
const std::string present = R"({"id": "00", "version": 5, "scheme": "ring", "buckets": 16384,
  "members": [{"name": "a", "weight": 1, "zone": "z", "buckets": 1, "share": 0.5,
               "address": "h:1"},
              {"name": "b", "weight": 2, "zone": "", "buckets": 1, "share": 0.5,
               "address": "h:2"}]})";

TEST(TopologyCommand, AddsMembersBehindThoseThatThereAre) {
  const auto request = with_members_added(present, {"c=h:3;weight=4", "d=[::1]:4"});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->version, 6U);
  EXPECT_EQ(request->scheme, "ring");
  ASSERT_EQ(request->members.size(), 4U);
  EXPECT_EQ(request->members[0].member, (shard::Member{"a", 1, "z"}));
  EXPECT_EQ(request->members[2].member, (shard::Member{"c", 4, ""}));
  EXPECT_EQ(request->members[3].address.text(), "[::1]:4");
}

TEST(TopologyCommand, RemovesMembersByName) {
  const auto request = with_members_removed(present, {"a"});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->version, 6U);
  ASSERT_EQ(request->members.size(), 1U);
  EXPECT_EQ(request->members[0].member.weight, 2U);
}

TEST(TopologyCommand, PutsBackWhatWasPrinted) {
  std::string edited = present;
  edited.replace(edited.find("\"weight\": 2"), 11, "\"weight\": 3");
  const auto request = with_document(present, edited);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->version, 6U);
  EXPECT_EQ(request->members[1].member.weight, 3U);
  edited.replace(edited.find("\"version\": 5"), 12, "\"version\": 9");
  EXPECT_EQ(with_document(present, edited)->version, 9U);
}

TEST(TopologyCommand, TellsWhatCanNotBeDone) {
  std::string older = present;
  older.replace(older.find("\"version\": 5"), 12, "\"version\": 4");
  const std::vector<std::pair<Result<shard::TopologyRequest>, const char*>> cases{
      {with_members_added(present, {"a=h:9"}), "there is a replica a already"},
      {with_members_added(present, {"c"}), "NAME=HOST:PORT"},
      {with_members_removed(present, {"c"}), "there is no replica \"c\""},
      {with_members_removed(present, {"a", "b"}), "a tier needs a replica"},
      {with_document(present, older), "it is at version 5, and this is made of version 4"},
      {with_document(present, "{"), ""},
      {with_members_added("no topology", {"c=h:3"}), ""},
  };
  for (const auto& [request, message] : cases) {
    ASSERT_FALSE(request) << message;
    EXPECT_THAT(request.error().message, HasSubstr(message));
  }
}

TEST(TopologyCommand, TakesWhatItsActionNeeds) {
  const auto is_right = [](const char* action, std::vector<std::string> words) {
    return static_cast<bool>(check_topology_flags({action, std::move(words), {}}));
  };
  EXPECT_TRUE(is_right("get", {}));
  EXPECT_TRUE(is_right("add", {"a=h:1", "b=h:2"}));
  EXPECT_TRUE(is_right("remove", {"a"}));
  EXPECT_TRUE(is_right("set", {"-"}));
  EXPECT_FALSE(is_right("get", {"a"}));
  EXPECT_FALSE(is_right("add", {}));
  EXPECT_FALSE(is_right("remove", {}));
  EXPECT_FALSE(is_right("set", {}));
  EXPECT_FALSE(is_right("set", {"3", "4"}));
  EXPECT_FALSE(is_right("delete", {"a"}));
}

TEST(PurgeCommand, TellsWhatWasRemoved) {
  EXPECT_EQ(*purge_line(R"({"removed": 1200, "complete": true})", "http://h/a"),
            "removed    1,200 of http://h/a\n");
  EXPECT_EQ(*purge_line(R"({"removed": 0, "complete": true, "hint": "Why"})", "http://h/a"),
            "removed    0 of http://h/a\n           Why\n");
}

TEST(PurgeCommand, FailsWhereSomebodyDidNotConfirmIt) {
  const auto line = purge_line(
      R"({"removed": 2, "complete": false, "missing": ["cache-1: why", "cache-2: so"]})", "x");
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message, "x: 2 removed, and not confirmed by cache-1: why; cache-2: so");
  for (const char* const none : {"", "{}", "[]", R"({"removed": "2", "complete": true})"}) {
    EXPECT_FALSE(purge_line(none, "x")) << none;
  }
}

}  // namespace
}  // namespace ringside::program
