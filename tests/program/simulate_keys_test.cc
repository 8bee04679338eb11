#include "program/simulate_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "program/configuration_file.h"
#include "program/settings.h"
#include "tier/membership.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;

TEST(SimulatedKeys, OfAFileHaveAWeightOrOne) {
  std::istringstream in("a b\n\nc\t2.5\r\na b\t3\n");
  const auto keys = read_keys(in, "f");
  ASSERT_TRUE(keys) << keys.error().message;
  ASSERT_EQ(keys->size(), 2U);
  std::string room;
  EXPECT_EQ(keys->key(0, room).bytes, "a b");
  EXPECT_DOUBLE_EQ(keys->weight(0), 4);
  EXPECT_DOUBLE_EQ(keys->weight(1), 2.5);
}

TEST(SimulatedKeys, OfAFileThatMakesNoSenseNameTheLine) {
  const std::vector<std::pair<std::string, const char*>> cases{
      {"a\nb\t-1\n", "f:2: \"-1\" is no weight"},
      {"a\tx\n", "f:1: \"x\" is no weight"},
      {"a\t\n", "f:1: \"\" is no weight"},
      {"a\tinf\n", "f:1: \"inf\" is no weight"},
      {"", "f: no key with a weight"},
      {"a\t0\n", "f: no key with a weight"},
      {"a\t1e308\nb\t1e308\n", "f: the weights together are too large"},
      {std::string(70'000, 'x') + "\n", "f:1: the line is longer than"},
  };
  for (const auto& [text, why] : cases) {
    std::istringstream in(text);
    const auto keys = read_keys(in, "f");
    ASSERT_FALSE(keys) << why;
    EXPECT_THAT(keys.error().message, HasSubstr(why));
  }
}

TEST(SimulatedKeys, OfALogAreTheSidecars) {
  Configuration configuration = defaults(Command::shard);
  ASSERT_TRUE(overlay_yaml(configuration,
                           "shard_key: path\nroutes: [{name: a, host: h, path: /a}]\n", "f"));
  const auto settings = *make_sidecar_settings(
      configuration, *tier::make_membership({}, configuration.scheme, 1), nullptr);
  const auto client = *IpAddress::parse("192.0.2.1");
  replay::AccessLog log;
  log.requests = {{client, "GET", "/a/./x?q", 1},
                  {client, "HEAD", "/a/x", 2},
                  {client, "POST", "/a/x", 3},
                  {client, "GET", "/b", 4},
                  {client, "GET", "http://h/a/y", 5}};
  const auto keys = keys_of_log(log, *settings, "h");
  ASSERT_EQ(keys.size(), 2U);
  std::string room;
  EXPECT_EQ(keys.key(0, room).bytes, "/a/x\n");
  EXPECT_DOUBLE_EQ(keys.weight(0), 2);
  EXPECT_EQ(keys.key(1, room).bytes, "/a/y\n");
  EXPECT_EQ(keys_of_log(log, *settings, "").size(), 1U);
}

}  // namespace
}  // namespace ringside::program
