#include "shard/state_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shard/topology_json.h"
#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::HasSubstr;

const State two{{{"", "cache-1", {}}, {"m", "", 0}}, {}};

std::string wrong(std::string_view text) {
  const auto read = parse_state_file(text);
  return read ? "" : read.error().message;
}

TEST(StateJson, ReadsWhatItWrote) {
  const auto read = parse_state_file(state_file_text({"range", two}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->scheme, "range");
  EXPECT_EQ(read->state, two);
  const State placed{{{"7", "cache-0", {}}}, "vbucket"};
  EXPECT_EQ(parse_state_file(state_file_text({"directory", placed}))->state, placed);
  const State table{{}, {}, {{"cache-0", "9-0"}, {"cache-1", "10-16383"}}};
  EXPECT_EQ(parse_state_file(state_file_text({"vbucket", table}))->state, table);
  const State both{{{"", "cache-1", {}, "films"}}, {}, table.table};
  EXPECT_EQ(parse_state_file(state_file_text({"vbucket,films=range", both}))->state, both);
}

TEST(StateJson, SaysWhatIsWrongAndWhere) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "this is no JSON"},
      {"[]", "give an object"},
      {R"({"format": 2, "scheme": "range", "state": {"shards": []}})", "format: is 2"},
      {R"({"scheme": "range", "state": {"shards": []}})", "format: is missing"},
      {R"({"format": 1, "scheme": "rung", "state": {"shards": []}})", "scheme: there is no scheme"},
      {R"({"format": 1, "scheme": "ring", "state": {"shards": []}})", "scheme: ring has no state"},
      {R"({"format": 1, "scheme": "range"})", "state: is missing"},
      {R"({"format": 1, "scheme": "range", "state": {}})", "state.shards: give an array"},
      {R"({"format": 1, "scheme": "range", "state": {"shards": [{"at": 7}]}})",
       "state.shards[0].at: is of type number"},
      {R"({"format": 1, "scheme": "range", "state": {"shards": [{"at": "", "parent": -1}]}})",
       "state.shards[0].parent: is negative"},
      {R"({"format": 1, "scheme": "range", "state": {"shards": [{"at": "", "to": "x"}]}})",
       "this key is not known"},
      {R"({"format": 1, "scheme": "vbucket", "state": {"table": {}}})",
       "state.table: give an array"},
      {R"({"format": 1, "scheme": "vbucket", "state": {"table": []}})",
       "state.shards: give an array"},
      {R"({"format": 1, "scheme": "vbucket", "state": {"table": [{"member": "cache-0"}]}})",
       "state.table[0].buckets: is missing"},
      {R"({"format": 1, "scheme": "vbucket", "state": {"table": [{"buckets": "0"}]}})",
       "state.table[0].member: is missing"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(wrong(text), HasSubstr(message)) << text;
  const std::string whole = state_file_text({"range", two});
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    EXPECT_NE(wrong(whole.substr(0, size)), "") << size;  // cut short
  }
}

TEST(StateJson, IsAPartOfATopologysPage) {
  const auto topology = topology_of(caches(2), "range", two);
  const auto shown = nlohmann::json::parse(to_json(*topology));
  EXPECT_EQ(shown.at("buckets"), 2);
  EXPECT_EQ(shown.at("state").at("shards").at(1).at("parent"), 0);
  const auto request = parse_topology_json(
      R"({"scheme": "range", "members": [], "state": {"shards": [{"at": ""}]}})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->state, (State{{{"", "", {}}}, {}}));
  EXPECT_FALSE(parse_topology_json(R"({"scheme": "range", "members": [], "state": 7})"));
}

}  // namespace
}  // namespace ringside::shard
