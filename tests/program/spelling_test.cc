#include "program/spelling.h"

#include <gtest/gtest.h>

#include <array>

namespace ringside::program {
namespace {

TEST(Spelling, FindsWhatWasMeant) {
  constexpr std::array<std::string_view, 5> words{"listen", "admin", "geo", "drain_deadline",
                                                  "trust"};
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"listen", "listen"},
      {"lisen", "listen"},
      {"ilsten", "listen"},
      {"drain-deadline", "drain_deadline"},
      {"dran_deadlin", "drain_deadline"},
      {"goe", "geo"},
      {"truts", "trust"},
      {"gxy", ""},
      {"something_else", ""},
      {"", ""},
      {std::string(100'000, 'a'), ""},
  };
  for (const Case& one : cases) EXPECT_EQ(closest(one.text, words), one.expected) << one.text;
}

}  // namespace
}  // namespace ringside::program
