#include "shard/digest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ringside::shard {
namespace {

std::string hex(const Digest::Bytes& bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

constexpr const char* behind_md5 = "00000000";

TEST(Digest, GivesTheAnswersOfItsStandards) {
  // RFC 1321 §A.5
  EXPECT_EQ(hex(Digest::md5()->of("")),
            std::string("d41d8cd98f00b204e9800998ecf8427e") + behind_md5);
  EXPECT_EQ(hex(Digest::md5()->of("abc")),
            std::string("900150983cd24fb0d6963f7d28e17f72") + behind_md5);
  EXPECT_EQ(hex(Digest::sha1()->of("abc")),
            "a9993e364706816aba3e25717850c26c9cd0d89d");  // RFC 3174 §7.3
}

}  // namespace
}  // namespace ringside::shard
