#include "http/regex.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace ringside::http {
namespace {

TEST(Regex, MatchesAllOfATextByteByByte) {
  const Regex regex = *Regex::make("/(a|b)+x?");
  for (const std::string_view text : {"/a", "/abba", "/bx"}) EXPECT_TRUE(regex.matches(text));
  for (const std::string_view text : {"", "/", "/a/", "x/a", "/a\n", "/A"}) {
    EXPECT_FALSE(regex.matches(text)) << text;
  }
  EXPECT_TRUE(Regex::make("..").value().matches("\xff\xc3"));
  EXPECT_EQ(regex.text(), "/(a|b)+x?");
  EXPECT_EQ(regex, *Regex::make("/(a|b)+x?"));
}

TEST(Regex, SaysWhatIsWrong) {
  struct Row {
    std::string text;
    std::string_view message;
  };
  std::string many;
  for (int i = 0; i < 40; ++i) many += ".{999}";
  for (const Row& row : {
           Row{"(a", "missing ): \"(a\"; write it in RE2's syntax"},
           Row{"a\\1", "invalid escape sequence"},
           Row{"(?=a)", "invalid perl operator"},
           Row{"a{1001}", "invalid repetition size: \"{1001}\"; write it with smaller repetitions"},
           Row{many, "pattern too large - compile failed; write it with smaller repetitions"},
           Row{std::string(limits::regex_size_bytes + 1, 'a'), "write at most 1024"},
       }) {
    const auto made = Regex::make(row.text);
    ASSERT_FALSE(made) << row.message;
    EXPECT_NE(made.error().message.find(row.message), std::string::npos) << made.error().message;
  }
}

// A fuzzer found it: the reason was the whole pattern, with its control bytes.
TEST(Regex, SaysWhatIsWrongInOneShortLine) {
  const auto made = Regex::make("\x15\n)" + std::string(900, 'a'));
  ASSERT_FALSE(made);
  for (const char c : made.error().message) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  EXPECT_LT(made.error().message.size(), 300U);
}

// With an engine that tries one way after the other this would not end.
TEST(Regex, TakesTimeInProportionToTheText) {
  const Regex regex = *Regex::make("(/(a*)*)*b");
  EXPECT_FALSE(regex.matches("/" + std::string(30'000, 'a')));
  const Regex forgetful = *Regex::make("/(a|b)*a(a|b){200}");  // of more states than it remembers
  std::string text = "/";
  for (unsigned i = 0, bits = 1; i < 8'000; ++i, bits = bits * 1664525 + 1013904223) {
    text += (bits >> 16) % 2 == 0 ? 'a' : 'b';
  }
  text[text.size() - 201] = 'a';
  EXPECT_TRUE(forgetful.matches(text));
}

}  // namespace
}  // namespace ringside::http
