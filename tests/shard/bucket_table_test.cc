#include "shard/bucket_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(BucketTable, WritesRunsUpAndDown) {
  const BucketHands hands{{3, 4, 5, 9, 8, 7, 6}, {}, {0}, {2, 1}, {10, 12, 14}};
  EXPECT_THAT(table_rows(caches(5), hands),
              ElementsAre(TableRow{"cache-0", "3-5,9-6"}, TableRow{"cache-2", "0"},
                          TableRow{"cache-3", "2-1"}, TableRow{"cache-4", "10,12,14"}));
}

TEST(BucketTable, ReadsWhatItWrote) {
  const auto rows = topology_of(caches(300), "vbucket")->state_to_keep().table;
  const auto hands = read_table(rows);
  ASSERT_TRUE(hands);
  EXPECT_EQ(table_rows(caches(300), *hands), rows);
}

TEST(BucketTable, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::vector<TableRow>, std::string>> wrong{
      {{{"cache-0", "0-16382"}}, "table: no row has bucket 16383"},
      {{{"cache-0", "0-100"}, {"cache-1", "90-16383"}},
       "table[1].buckets: bucket 90 stands twice; give it to one"},
      {{{"cache-0", "0-16383,7"}}, "table[0].buckets: bucket 7 stands twice"},
      {{{"cache-0", ""}}, R"(table[0].buckets: "" is no bucket and no run of them; write numbers)"},
      {{{"cache-0", "0-16384"}}, R"("0-16384" is no bucket)"},
      {{{"cache-0", "0-1,"}}, R"("" is no bucket)"},
      {{{"cache-0", "1-2-3"}}, R"("1-2-3" is no bucket)"},
      {{{"cache-0", "-1"}}, R"("-1" is no bucket)"},
      {{{"cache-0", "0x10"}}, R"("0x10" is no bucket)"},
      {{{"cache-0", "99999999999"}}, R"("99999999999" is no bucket)"},
      {{{"cache-0", "0-8191"}, {"cache-0", "8192-16383"}},
       R"(table[1].member: "cache-0" has a row before)"},
      {{{"", "0-16383"}}, "table[0].member: "},
      {{{"a b", "0-16383"}}, "table[0].member: "},
  };
  for (const auto& [table, message] : wrong) {
    const auto made = Topology::make(caches(2), "vbucket", 1, State{{}, {}, table});
    ASSERT_FALSE(made) << message;
    EXPECT_THAT(made.error().message, HasSubstr(message));
  }
}

TEST(BucketTable, IsOfNoOtherScheme) {
  const State state{{}, {}, {{"cache-0", "0-16383"}}};
  for (const char* scheme : {"ring", "range", "directory", "ring,films=range"}) {
    const auto made = Topology::make(caches(2), scheme, 1, state);
    ASSERT_FALSE(made) << scheme;
    EXPECT_THAT(made.error().message, HasSubstr("table: ")) << scheme;
  }
  const auto made = Topology::make(caches(2), "vbucket", 1, State{{{"", ""}}, {}, {}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("shards: the scheme vbucket has a table"));
}

}  // namespace
}  // namespace ringside::shard
