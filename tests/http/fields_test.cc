#include "http/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace ringside::http {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

TEST(Token, IsComparedWithoutCase) {
  EXPECT_TRUE(same_token("Content-Length", "content-LENGTH"));
  EXPECT_TRUE(same_token("", ""));
  EXPECT_FALSE(same_token("a", "ab"));
  EXPECT_FALSE(same_token("", "a"));
}

// 0x20 apart like letters and their capitals, but no letters; and bytes beyond ASCII.
TEST(Token, OnlyLettersHaveCase) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"[", "{"},  {"@", "`"},       {"^", "~"},   {"\\", "|"},
      {"\r", "-"}, {"\xc4", "\xe4"}, {"_", "\x7f"}};
  for (const auto& [a, b] : cases) EXPECT_FALSE(same_token(a, b)) << a << " " << b;
  EXPECT_TRUE(same_token("\xc4", "\xc4"));
}

bool same_byte_by_byte(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// Eight bytes are compared at once: each pair of bytes, at each place of names of each length.
TEST(Token, IsComparedAsByteByByte) {
  for (std::size_t size = 1; size <= 18; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      std::string a(size, 'x');
      std::string b(size, 'X');
      for (int i = 0; i < 256; ++i) {
        for (const int flipped : {0, 0x20, 0x01, 0x80, 0xff}) {
          a[place] = static_cast<char>(i);
          b[place] = static_cast<char>(i ^ flipped);
          ASSERT_EQ(same_token(a, b), same_byte_by_byte(a, b)) << size << " " << place << " " << i;
        }
      }
    }
  }
}

TEST(FieldNames, AreFoundInAnyCaseAndNoOthers) {
  constexpr FieldNames names(std::to_array<std::string_view>({"te", "via", "x-real-ip"}));
  for (const std::string_view name : {"te", "TE", "Via", "X-REAL-ip"}) {
    EXPECT_TRUE(names.has(name)) << name;
  }
  for (const std::string_view name : {"", "t", "tf", "tee", "vi", "x-real-iq", "z-real-ip"}) {
    EXPECT_FALSE(names.has(name)) << name;
  }
}

TEST(Fields, WhatTheyMayNotHaveTheyHaveNot) {
  Fields fields;
  EXPECT_FALSE(fields.may_have("Via"));
  fields.add("via", "1.1 a");
  fields.add("", "nameless");
  EXPECT_TRUE(fields.may_have("VIA"));
  EXPECT_TRUE(fields.has("VIA"));
  EXPECT_TRUE(fields.may_have(""));
  fields.clear();
  EXPECT_FALSE(fields.may_have("Via"));
}

TEST(Fields, EachLineOfANameIsVisitedUntilTheVisitEndsIt) {
  Fields fields;
  for (const std::string_view value : {"a", "b", "c"}) fields.add("Via", value);
  fields.add("Vary", "d");
  std::string seen;
  fields.for_each("via", [&](std::string_view value) { seen += value; });
  EXPECT_EQ(seen, "abc");
  fields.for_each("via", [&](std::string_view value) {
    seen += value;
    return value != "b";
  });
  EXPECT_EQ(seen, "abcab");
}

TEST(Trimmed, TakesSpacesAndTabsOnly) {
  EXPECT_EQ(trimmed(" \t a b\t "), "a b");
  EXPECT_EQ(trimmed("\r\na\v"), "\r\na\v");
  EXPECT_EQ(trimmed(" \t"), "");
}

Fields some_fields() {
  Fields fields;
  fields.add("Accept", "a");
  fields.add("X-Empty", "");
  fields.add("accept", "b, c");
  fields.add("Host", "example.org");
  fields.add("ACCEPT", "");
  return fields;
}

TEST(Fields, AreFoundByNameInAnyCase) {
  const Fields fields = some_fields();
  EXPECT_EQ(fields.first("ACCEPT"), "a");
  EXPECT_EQ(fields.first("x-empty"), "");
  EXPECT_EQ(fields.first("Accep"), std::nullopt);
  EXPECT_EQ(fields.count("Accept"), 3U);
  EXPECT_EQ(fields.count("nothing"), 0U);
  EXPECT_TRUE(fields.has("host"));
  EXPECT_FALSE(fields.has("hos"));
}

TEST(Fields, LinesAreJoinedInOrder) {
  const Fields fields = some_fields();
  EXPECT_EQ(fields.combined("accept"), "a, b, c, ");
  EXPECT_EQ(fields.combined("x-empty"), "");
  EXPECT_EQ(fields.combined("nothing"), std::nullopt);
}

TEST(Fields, RemovingTakesEveryLineAndKeepsTheOrder) {
  Fields fields = some_fields();
  fields.remove("aCCept");
  std::vector<std::string_view> names;
  for (const Field& line : fields) names.push_back(line.name);
  EXPECT_THAT(names, ElementsAre("X-Empty", "Host"));
  fields.remove("nothing");
  EXPECT_EQ(fields.size(), 2U);
  fields.clear();
  EXPECT_EQ(fields.size(), 0U);
}

TEST(HopByHop, FixedAndNamedFieldsEndHere) {
  struct Case {
    std::string_view name;
    std::string_view connection;
    bool ends_here;
  };
  const Case cases[] = {
      {"Connection", "", true},
      {"Keep-Alive", "", true},
      {"proxy-connection", "", true},
      {"TE", "", true},
      {"Trailer", "", true},
      {"Transfer-Encoding", "", true},
      {"Upgrade", "", true},
      {"Proxy-Authenticate", "", true},
      {"Proxy-Authorization", "", true},
      {"Proxy-Authentication-Info", "", true},
      {"X-Mine", "", false},
      {"X-Mine", "close", false},
      {"X-Mine", "x-mine", true},
      {"X-Mine", "keep-alive,\tX-MINE ,close", true},
      {"X-Mine", "x-mine2, x-min", false},
      {"X-Mine", ",,", false},
      {"Via", "", false},
      {"Tea", "", false},
      {"Set-Cookie", "", false},
      {"WWW-Authenticate", "", false},
  };
  for (const Case& c : cases) {
    Fields message;
    message.add("connection", c.connection);
    EXPECT_EQ(HopByHop(message).has(c.name), c.ends_here) << c.name << " / " << c.connection;
  }
}

// RFC 9110 §7.6.1: such a Connection would strip a message of its framing or its privacy.
TEST(HopByHop, ConnectionCanNotNameFieldsForAllRecipients) {
  for (const auto* name : {"Host", "Content-Length", "Cache-Control", "Authorization", "Vary"}) {
    Fields message;
    message.add("Connection", "host, content-length, cache-control, authorization, vary");
    EXPECT_FALSE(HopByHop(message).has(name));
  }
}

TEST(InternalFields, AreKnownByTheirPrefix) {
  EXPECT_TRUE(is_internal("Ringside-Country"));
  EXPECT_TRUE(is_internal("rINGSIDE-topology"));
  EXPECT_TRUE(is_internal("ringside-"));
  EXPECT_FALSE(is_internal("ringside"));
  EXPECT_FALSE(is_internal("Ringsides-Country"));
  EXPECT_FALSE(is_internal("X-Ringside-Country"));
  EXPECT_FALSE(is_internal(""));
}

TEST(Members, AreSplitAtCommasOutsideOfQuotes) {
  struct Case {
    std::string_view list;
    std::vector<std::string_view> members;
  };
  const Case cases[] = {
      {"", {}},
      {" , ,\t,", {}},
      {"a", {"a"}},
      {"a,b", {"a", "b"}},
      {" a , b\t,, c d ,", {"a", "b", "c d"}},
      {R"(a="x, y", b)", {R"(a="x, y")", "b"}},
      {R"("a\", b", c)", {R"("a\", b")", "c"}},
      {R"("a\\", c)", {R"("a\\")", "c"}},
      {R"(W/"1,2", "3")", {R"(W/"1,2")", R"("3")"}},
      {R"(a, "b, c)", {"a", R"("b, c)"}},
      {R"("a\)", {R"("a\)"}},
      {R"(a\, b)", {R"(a\)", "b"}},
  };
  for (const Case& c : cases) {
    std::vector<std::string_view> members;
    for_each_member(c.list, [&](std::string_view member) { members.push_back(member); });
    EXPECT_THAT(members, ElementsAreArray(c.members)) << c.list;
  }
}

TEST(Members, ABackslashAtTheEndOfAnEntityTagIsNoEscape) {
  std::vector<std::string_view> members;
  const auto visit = [&](std::string_view member) { members.push_back(member); };
  for_each_member(R"("a\", W/"b,\",*)", visit, Quoted::entity_tags);
  EXPECT_THAT(members, ElementsAre(R"("a\")", R"(W/"b,\")", "*"));
  members.clear();
  for_each_member(R"("a\", "b")", visit);
  EXPECT_THAT(members, ElementsAre(R"("a\", "b")"));
}

TEST(Members, AVisitCanEndTheWalk) {
  std::vector<std::string_view> members;
  for_each_member("a, b, c", [&](std::string_view member) {
    members.push_back(member);
    return member != "b";
  });
  EXPECT_THAT(members, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace ringside::http
