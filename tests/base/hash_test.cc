#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

// What every implementation of XXH3 gives for no input and seed 0.
TEST(Hash, IsXxh3WithSeedZero) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2ULL);
  EXPECT_EQ(hash128("").hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, DependsOnEveryByteAndTheLength) {
  const std::string bytes(300, 'a');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = 'b';
    EXPECT_NE(hash64(other), hash64(bytes)) << i;
    EXPECT_NE(hash128(other), hash128(bytes)) << i;
    EXPECT_NE(hash64(bytes.substr(0, i)), hash64(bytes)) << i;
  }
  EXPECT_NE(hash64({"a\0", 2}), hash64("a"));
}

TEST(Hash, IsWrittenAs32DigitsHighHalfFirst) {
  EXPECT_EQ(Hash128{}.hex(), std::string(32, '0'));
  EXPECT_EQ((Hash128{0x1, 0xab}).hex(), "000000000000000100000000000000ab");
}

}  // namespace
}  // namespace ringside
