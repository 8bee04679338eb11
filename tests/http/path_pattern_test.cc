#include "http/path_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace ringside::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PathPattern, HasOneNormalForm) {
  struct Row {
    std::string_view written;
    std::string_view normal;
  };
  for (const Row& row : std::vector<Row>{
           {"/", "/"},
           {"/%7euser/../a", "/a"},
           {"/users/{id}", "/users/{id}"},
           {"/users/{id}/", "/users/{id}/"},
           {"/%7euser/{id}/a b%41", ""},
           {"/%7euser/{id}/%41", "/~user/{id}/A"},
           {"/{a-b}/{A_1}", "/{a-b}/{A_1}"},
           {"/a/%7bid%7d", "/a/%7Bid%7D"},  // braces as data
           {"/a/%7bid%7d/{x}", "/a/%7Bid%7D/{x}"},
       }) {
    const auto made = normalise_pattern(row.written);
    EXPECT_EQ(made ? *made : "", row.normal) << row.written;
    if (made) {
      EXPECT_EQ(normalise_pattern(*made).value(), *made);
    }
  }
}

TEST(PathPattern, RefusesWhatIsNoPatternAndTellsTheRemedy) {
  std::string many;
  for (std::size_t count = 0; count <= limits::route_placeholders; ++count) {
    many += "/{p" + std::to_string(count) + "}";
  }
  struct Row {
    std::string written;
    std::string_view words;
  };
  for (const Row& row : std::vector<Row>{
           {"", "starts with /"},
           {"users/{id}", "starts with /"},
           {"/users?{id}", "starts with /"},
           {"/users/{id", "write {NAME} as a whole segment"},
           {"/users/id}", "write {NAME} as a whole segment"},
           {"/users/x{id}", "write {NAME} as a whole segment"},
           {"/users/{id}.html", "write {NAME} as a whole segment"},
           {"/users/{}", "write {NAME} as a whole segment"},
           {"/users/{a b}", "write {NAME} as a whole segment"},
           {"/users/{id}/{id}", "{id} stands twice"},
           {"/users/{id}/../x", "dot segment"},
           {"/users/%2e/{id}", "dot segment"},
           {many, "one placeholder too many; at most 8"},
       }) {
    const auto made = normalise_pattern(row.written);
    ASSERT_FALSE(made) << row.written;
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(made.error().message, HasSubstr(row.words)) << row.written;
  }
}

TEST(PathPattern, OfANameWhoseSegmentIsFound) {
  EXPECT_EQ(placeholder_segment("/users/{id}/{part}", "id"), 2U);
  EXPECT_EQ(placeholder_segment("/users/{id}/{part}", "part"), 3U);
  EXPECT_EQ(placeholder_segment("/users/{id}", "x"), std::nullopt);
  EXPECT_EQ(placeholder_segment("/users/id", "id"), std::nullopt);
}

TEST(PathPattern, SegmentsAreCountedAsRoutesAreFound) {
  EXPECT_EQ(path_segment("/users/7", 1), "users");
  EXPECT_EQ(path_segment("/users/7", 2), "7");
  EXPECT_EQ(path_segment("/users/7/", 3), "");
  EXPECT_EQ(path_segment("//users//7", 2), "7");
  EXPECT_EQ(path_segment("/", 1), "");
  EXPECT_EQ(path_segment("*", 1), "");
  EXPECT_EQ(path_segment("/a%2Fb/7", 1), "a%2Fb");
}

TEST(PathPattern, WhatIsLeftWithoutTheLastPlaceholders) {
  EXPECT_THAT(cut_patterns("/a/{x}/{y}"), ElementsAre("/a/{x}", "/a"));
  EXPECT_THAT(cut_patterns("/a/{x}/"), ElementsAre("/a"));
  EXPECT_THAT(cut_patterns("/{x}"), ElementsAre(""));
  EXPECT_THAT(cut_patterns("/{x}/b"), ElementsAre());
}

}  // namespace
}  // namespace ringside::http
