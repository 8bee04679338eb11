#include "shard/digest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

namespace ringside::shard {
namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

TEST(Digest, GivesTheAnswersOfItsStandards) {
  // RFC 1321 §A.5
  EXPECT_EQ(hex(md5_of("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex(md5_of("abc")), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex(sha1_of("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");  // RFC 3174 §7.3
}

}  // namespace
}  // namespace ringside::shard
