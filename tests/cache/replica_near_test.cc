#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/cache/some_origin.h"

namespace ringside::cache {
namespace {

using support::always;
using support::answer;
using support::ScriptedPeer;

// It took the variant by the Vary that it was shown, and gave it to everybody.
TEST(ReplicaNear, ANearCacheThatDoesNotSeeWhatAResponseVariesOnMayNotRepeatIt) {
  struct Row {
    std::string origin_says;
    std::vector<std::string> removed;
    std::vector<std::pair<std::string, std::string>> set;
    bool may_repeat;
  };
  for (const Row& row : std::vector<Row>{
           {"Cache-Control: max-age=60\r\n", {"Vary"}, {}, true},
           {"Cache-Control: max-age=60\r\nVary: cookie, Accept\r\n", {}, {}, true},
           {"Cache-Control: max-age=60\r\nVary: cookie\r\n", {"vary"}, {}, false},
           {"Cache-Control: max-age=60\r\nVary: cookie\r\n", {}, {{"Vary", "Accept"}}, false},
       }) {
    const ScriptedPeer origin(always(answer("200 OK", row.origin_says, "body")));
    SomeReplica replica(origin.address());
    Rules rules;
    rules.response_fields.remove = row.removed;
    rules.response_fields.set = row.set;
    set_rules(replica, rules);
    EXPECT_EQ(replica.get("/").status, 200);
    replica.settle();
    const auto hit = replica.get("/", "Ringside-Topology: 1\r\n");
    EXPECT_EQ(hit.field("age"), "0") << hit.head;
    EXPECT_EQ(!hit.field("ringside-near-ttl-ms").empty(), row.may_repeat) << hit.head;
  }
}

}  // namespace
}  // namespace ringside::cache
