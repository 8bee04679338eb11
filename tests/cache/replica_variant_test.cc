#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cache/some_replica.h"

// What tells variants apart is what the origin is sent (http/canonical_field.h).
namespace ringside::cache {
namespace {

using support::answer;
using support::ScriptedPeer;
using support::Stage;

// An origin that tells what it was sent of a field, by which its answers vary.
ScriptedPeer::Script echo(std::string name) {
  return [name = std::move(name)](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.send(answer("200 OK", "Cache-Control: max-age=60\r\nVary: " + name + "\r\n",
                        "[" + std::string(support::field(request, name)) + "]"));
    }
  };
}

struct Spelling {
  std::string name;
  std::string odd;
  std::string usual;
  std::string what_origin_sees_of_odd;
};

// What somebody wrote oddly filled the variant of all who write it as usual: an origin that knows
// no theme `dark,`, or takes `DE` for no language, had its answer stored for them.
TEST(ReplicaVariant, AnotherSpellingDoesNotFillTheVariantOfOthers) {
  const std::vector<Spelling> rows{
      {"x-theme", "dark,", "dark", "dark,"},
      {"x-theme", "dark,,light", "dark, light", "dark,, light"},
      {"x-forwarded-proto", "https,", "https", "https,"},
      {"accept-language", "DE", "de", "de"},
      {"accept-language", "en;q=0.7,de-DE", "de-DE, en;q=0.7", "de-DE, en;q=0.7"},
      {"accept-encoding", "GZIP;q=1.0", "gzip", "gzip"},
      {"x-theme", "dark ,light", "dark, light", "dark, light"},
  };
  for (const Spelling& row : rows) {
    ScriptedPeer origin(echo(row.name));
    SomeReplica replica(origin.address());
    EXPECT_EQ(replica.get("/", row.name + ": " + row.odd + "\r\n").body,
              "[" + row.what_origin_sees_of_odd + "]");
    replica.settle();
    EXPECT_EQ(replica.get("/", row.name + ": " + row.usual + "\r\n").body, "[" + row.usual + "]");
  }
}

TEST(ReplicaVariant, TwoLinesAreSentAsTheOneThatTheyCountAs) {
  ScriptedPeer origin(echo("x-theme"));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/", "X-Theme: a\r\nY: z\r\nX-Theme: b\r\n").body, "[a, b]");
  replica.settle();
  EXPECT_EQ(replica.get("/", "X-Theme: a, b\r\n").field("cache-status"), "cache-7; hit; ttl=60");
}

}  // namespace
}  // namespace ringside::cache
