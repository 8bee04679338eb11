#include "shard/digest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

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

// Keys of up to 55 bytes are one block, others are more.
TEST(Digest, IsRightOnBothSidesOfABlock) {
  const std::string text(128, 'a');
  struct Case {
    std::size_t length;
    const char* md5;
    const char* sha1;
  };
  for (const Case& c : {
           Case{1, "0cc175b9c0f1b6a831c399e269772661", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"},
           Case{54, "eced9e0b81ef2bba605cbc5e2e76a1d0", "b05d71c64979cb95fa74a33cdb31a40d258ae02e"},
           Case{55, "ef1772b6dff9a122358552954ad0df65", "c1c8bbdc22796e28c0e15163d20899b65621d65a"},
           Case{56, "3b0c8ac703f828b04c6c197006d17218", "c2db330f6083854c99d4b5bfb6e8f29f201be699"},
           Case{63, "b06521f39153d618550606be297466d5", "03f09f5b158a7a8cdad920bddc29b81c18a551f5"},
           Case{64, "014842d480b571495a4a0363793f7367", "0098ba824b5c16427bd7a1122a5a442a25ec644d"},
           Case{65, "c743a45e0d2e6a95cb859adae0248435", "11655326c708d70319be2610e8a57d9a5b959d3b"},
           Case{119, "8a7bd0732ed6a28ce75f6dabc90e1613",
                "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"},
           Case{120, "5f61c0ccad4cac44c75ff505e1f1e537",
                "f34c1488385346a55709ba056ddd08280dd4c6d6"},
           Case{128, "e510683b3f5ffe4093d021808bc6ff70",
                "ad5b3fdbcb526778c2839d2f151ea753995e26a0"},
       }) {
    const std::string_view bytes = std::string_view(text).substr(0, c.length);
    EXPECT_EQ(hex(md5_of(bytes)), c.md5) << c.length;
    EXPECT_EQ(hex(sha1_of(bytes)), c.sha1) << c.length;
  }
}

}  // namespace
}  // namespace ringside::shard
