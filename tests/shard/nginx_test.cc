#include "shard/nginx.h"

#include <gtest/gtest.h>

#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

TEST(Nginx, HasTheChecksumOfZlib) {
  EXPECT_EQ(crc32_of(""), 0U);
  EXPECT_EQ(crc32_of("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32_of("6789", crc32_of("12345")), 0xcbf43926U);
}

// Host and port are told apart by a byte that no name holds.
TEST(Nginx, CutsNamesAsNginxDoes) {
  const auto owners = [](const std::string& name) {
    const auto topology = topology_of({{name, 1, ""}, {"other", 1, ""}}, "nginx");
    std::string found;
    for (int i = 0; i < 200; ++i) {
      found += owner_name(*topology, key_of(std::to_string(i))) == name ? '1' : '0';
    }
    return found;
  };
  EXPECT_EQ(owners("unix:/run/a"), owners("/run/a")) << "a socket is its path";
  EXPECT_EQ(owners("UNIX:/run/a"), owners("/run/a"));
  EXPECT_NE(owners("a:80"), owners("a80"));
  EXPECT_NE(owners("a:80"), owners("a"));
  EXPECT_NE(owners("[::1]:80"), owners("[::1]"));
  EXPECT_NE(owners("8080"), owners("80:80"));
}

}  // namespace
}  // namespace ringside::shard
