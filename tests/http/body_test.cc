#include "http/body.h"

#include <gtest/gtest.h>

#include <string>

#include "http/response.h"

namespace ringside::http {
namespace {

std::string given_by(Body& body) {
  const auto pulled = body.take();
  EXPECT_TRUE(pulled && *pulled && (*pulled)->last);
  std::string bytes;
  for (const std::string_view piece : (*pulled)->pieces) {
    EXPECT_FALSE(piece.empty());
    bytes += piece;
  }
  return bytes;
}

TEST(Body, WhatIsNoSourcesComesInOneGo) {
  Body none;
  EXPECT_EQ(given_by(none), "");
  Body made(std::string("made"));
  EXPECT_EQ(given_by(made), "made");
  const auto owner = std::make_shared<const std::string>("shared bytes");
  Body shared(owner, std::string_view(*owner));
  EXPECT_EQ(given_by(shared), "shared bytes");
  Body pieces(owner, std::vector<std::string_view>{std::string_view(*owner).substr(0, 6),
                                                   std::string_view(*owner).substr(7)});
  EXPECT_EQ(given_by(pieces), "sharedbytes");
}

TEST(Body, KeepsWhatItsBytesLieIn) {
  auto owner = std::make_shared<const std::string>("outlives its store");
  Body body(owner, std::string_view(*owner));
  owner.reset();
  Body moved = std::move(body);
  EXPECT_EQ(given_by(moved), "outlives its store");
}

TEST(Response, BeginsWithoutWhatWasThere) {
  Response response;
  response.begin(200, "OK");
  response.fields.add("X", "1");
  response.shared_lines = "Y: 2\r\n";
  response.length_is_known = false;
  response.head_waits = response.is_last = true;
  response.body = Body(std::string("old"));
  response.begin(304, "Not Modified");
  EXPECT_EQ(response.status, 304);
  EXPECT_EQ(response.fields.text(), "");
  EXPECT_EQ(response.shared_lines, "");
  EXPECT_TRUE(response.length_is_known);
  EXPECT_FALSE(response.head_waits);
  EXPECT_FALSE(response.is_last);
  EXPECT_EQ(given_by(response.body), "");
}

TEST(FieldLines, GiveBackWhatWasAdded) {
  FieldLines lines;
  lines.add("Empty", "");
  lines.add_joined("Via", std::nullopt, "1.1 b");
  lines.add_joined("Via", std::string("1.0 a"), "1.1 b");
  lines.add_written("X", [](std::string& out) { out += "a: b"; });
  const Fields fields = fields_of(lines.text());
  ASSERT_EQ(fields.size(), 4U);
  EXPECT_EQ(fields.first("empty"), "");
  EXPECT_EQ(fields.combined("via"), "1.1 b, 1.0 a, 1.1 b");
  EXPECT_EQ(fields.first("x"), "a: b");
}

}  // namespace
}  // namespace ringside::http
