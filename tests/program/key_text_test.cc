#include "program/key_text.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ringside::program {
namespace {

TEST(KeyText, ShowsKeysAndReadsThemAgain) {
  struct Row {
    std::string_view key;
    std::string_view text;
  };
  for (const Row& row : std::vector<Row>{{"DE\n/list\n", "DE /list"},
                                         {"DE\n\n/list\n", "DE  /list"},
                                         {"DE\n\n", "DE "},
                                         {"", ""},
                                         {"a b\nc\\n\n", "a\\x20b c\\x5cn"},
                                         {"\xc3\xa9\x7f\t\n", "\\xc3\\xa9\\x7f\\x09"}}) {
    EXPECT_EQ(key_text(row.key), row.text);
    EXPECT_EQ(key_of_text(row.text), row.key.substr(0, row.key.empty() ? 0 : row.key.size() - 1));
  }
}

TEST(KeyText, IsReadAsItIsWrittenInAShellToo) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows{
      {"DE\\n/m", "DE\n/m"}, {"DE\n/m", "DE\n/m"}, {"4711", "4711"},
      {"a\\xgg", "a\\xgg"},  {"a\\x2", "a\\x2"},   {"a\\", "a\\"}};
  for (const auto& [text, key] : rows) EXPECT_EQ(key_of_text(text), key);
}

// The line feed of an empty last value was taken for what ends a key.
TEST(KeyText, AKeyOfAStateIsReadAsItWasWritten) {
  for (const char* const at : {"", "/a", "DE\n/a", "/a\n", "\n\n", "a b\n"}) {
    EXPECT_EQ(key_of_text(key_text_of_at(at)), at);
  }
}

}  // namespace
}  // namespace ringside::program
