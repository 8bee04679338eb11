#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

// The input of xxHash's own self-test (cli/xsum_sanity_check.c), made again from its description.
std::string sanity_input(std::size_t size) {
  std::string bytes;
  std::uint64_t state = 2654435761U;
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(state >> 56)));
    state *= 11400714785074694797ULL;
  }
  return bytes;
}

TEST(Hash, GivesThePublishedXxh3AnswersOfSixtyFourBits) {
  struct Case {
    std::size_t size;
    std::uint64_t hash;
  };
  // One for each way that XXH3 takes, by length.
  for (const Case& c :
       {Case{0, 0x2D06800538D394C2}, Case{1, 0xC44BDFF4074EECDB}, Case{6, 0x27B56A84CD2D7325},
        Case{12, 0xA713DAF0DFBB77E7}, Case{24, 0xA3FE70BF9D3510EB}, Case{48, 0x397DA259ECBA1F11},
        Case{80, 0xBCDEFBBB2C47C90A}, Case{195, 0xCD94217EE362EC3A}, Case{403, 0xCDEB804D65C6DEA4},
        Case{512, 0x617E49599013CB6B}}) {
    EXPECT_EQ(hash64(sanity_input(c.size)), c.hash) << c.size << " bytes";
  }
}

TEST(Hash, GivesThePublishedXxh3AnswersOf128BitsHighHalfFirst) {
  EXPECT_EQ(hash128("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash128(sanity_input(1)).hex(), "a6cd5e9392000f6ac44bdff4074eecdb");
  EXPECT_EQ(hash128(sanity_input(6)).hex(), "082afe0b8162d12a3e7039bdda43cfc6");
  EXPECT_EQ(hash128(sanity_input(512)).hex(), "18d2d110dcc9bca1617e49599013cb6b");
}

}  // namespace
}  // namespace ringside
