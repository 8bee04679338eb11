#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/cache/some_replica.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/test_client.h"

namespace ringside::cache {

inline constexpr std::string_view tagged = "Cache-Control: max-age=60\r\nETag: \"1\"\r\n";

// Bytes of which no eight in a row stand there twice.
inline std::string numbered(std::size_t size_bytes) {
  std::string bytes;
  for (std::size_t at = 0; bytes.size() < size_bytes; ++at) bytes += fmt::format("{:07},", at);
  bytes.resize(size_bytes);
  return bytes;
}

inline std::string partial(std::string_view content_range, std::string_view field_lines,
                           std::string_view body) {
  return support::answer("206 Partial Content",
                         fmt::format("Content-Range: {}\r\n{}", content_range, field_lines), body);
}

// What an origin has under every name, and that it serves as RFC 9110 §13 and §14 say.
struct Object {
  std::string body;
  std::string field_lines{tagged};

  [[nodiscard]] std::string etag() const { return support::field("\r\n" + field_lines, "etag"); }
  [[nodiscard]] std::string part(std::size_t first, std::size_t last) const {
    return partial(fmt::format("bytes {}-{}/{}", first, last, body.size()), field_lines,
                   std::string_view(body).substr(first, last - first + 1));
  }
  [[nodiscard]] std::string answer_to(std::string_view request) const {
    const auto known = support::field(request, "if-none-match");
    if (!known.empty() && known == etag()) {
      return "HTTP/1.1 304 Not Modified\r\n" + field_lines + "\r\n";
    }
    const auto same_as = support::field(request, "if-range");
    std::string range = support::field(request, "range");
    if (!range.starts_with("bytes=") || (!same_as.empty() && same_as != etag())) {
      return support::answer("200 OK", field_lines, body);
    }
    range.erase(0, 6);
    const std::size_t dash = range.find('-');
    std::size_t first = 0;
    std::size_t last = body.size() - 1;
    if (dash == 0) {
      first = body.size() - std::min<std::size_t>(body.size(), std::stoul(range.substr(1)));
    } else {
      first = std::stoul(range.substr(0, dash));
      if (dash + 1 < range.size()) last = std::min(last, std::stoul(range.substr(dash + 1)));
    }
    if (first >= body.size()) {
      return support::answer("416 Range Not Satisfiable",
                             fmt::format("Content-Range: bytes */{}\r\n", body.size()), "");
    }
    return part(first, last);
  }
};

inline support::ScriptedPeer::Script serves(Object object) {
  return [object = std::move(object)](support::Stage& stage) {
    while (true) stage.send(object.answer_to(stage.read_request()));
  };
}

// Gives its answers in turn, and then serves the object.
inline support::ScriptedPeer::Script first_then(std::vector<std::string> answers, Object object) {
  const auto next = std::make_shared<std::atomic<std::size_t>>(0);
  return [answers = std::move(answers), object = std::move(object), next](support::Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      const std::size_t turn = next->fetch_add(1);
      stage.send(turn < answers.size() ? answers[turn] : object.answer_to(request));
    }
  };
}

inline std::string range(std::size_t first, std::size_t last) {
  return fmt::format("Range: bytes={}-{}\r\n", first, last);
}

// The 206 that has those bytes of `whole`.
inline void expect_part(const support::Reply& reply, std::string_view whole, std::size_t first,
                        std::size_t last) {
  const std::size_t size = last - first + 1;
  EXPECT_EQ(reply.status, 206);
  EXPECT_TRUE(reply.whole);
  EXPECT_TRUE(reply.body == whole.substr(first, size)) << first << "-" << last;
  EXPECT_EQ(reply.field("content-range"), fmt::format("bytes {}-{}/{}", first, last, whole.size()));
  EXPECT_EQ(reply.field("content-length"), std::to_string(size));
}

inline void expect_whole(const support::Reply& reply, std::string_view whole) {
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.whole);
  EXPECT_TRUE(reply.body == whole) << reply.body.size();
  EXPECT_EQ(reply.field("content-range"), "");
}

// What of the request's head, the one of that number, the origin was asked for.
inline std::string asked(const support::ScriptedPeer& origin, std::size_t number,
                         std::string_view field_name) {
  return support::field(origin.heads().at(number), field_name);
}

}  // namespace ringside::cache
