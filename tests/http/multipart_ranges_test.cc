#include "http/multipart_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/characters.h"

namespace ringside::http {
namespace {

// The body as it is sent.
std::string body_of(const MultipartRanges& ranges, std::string_view object) {
  std::string body;
  for (const auto& part : ranges.parts) {
    body += part.head;
    body += object.substr(part.span.first, part.span.size());
  }
  return body + ranges.closing;
}

TEST(MultipartRangesTest, Rfc9110Section14Point6EachPartHasItsFields) {
  const std::vector<ByteSpan> spans{{0, 1}, {7, 9}};
  const auto ranges = frame_ranges(spans, 10, "text/plain; charset=utf-8", "SEPARATOR");
  EXPECT_EQ(ranges.content_type, "multipart/byteranges; boundary=SEPARATOR");
  EXPECT_EQ(body_of(ranges, "0123456789"),
            "--SEPARATOR\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Range: bytes 0-1/10\r\n"
            "\r\n"
            "01\r\n"
            "--SEPARATOR\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Range: bytes 7-9/10\r\n"
            "\r\n"
            "789\r\n"
            "--SEPARATOR--\r\n");
}

TEST(MultipartRangesTest, Rfc9110Section15Point3Point7Point2NoContentTypeWhereTheObjectHasNone) {
  const std::vector<ByteSpan> spans{{3, 3}};
  EXPECT_EQ(body_of(frame_ranges(spans, 10, "", "b"), "0123456789"),
            "--b\r\nContent-Range: bytes 3-3/10\r\n\r\n3\r\n--b--\r\n");
}

TEST(MultipartRangesTest, LengthIsThatOfTheWholeBody) {
  const std::string object(100'000, 'x');
  const std::vector<std::vector<ByteSpan>> rows{
      {{0, 0}}, {{0, 99'999}}, {{99'999, 99'999}, {0, 9}}, {{0, 9}, {11, 99}, {1000, 9999}}};
  for (const auto& spans : rows) {
    for (const auto* type : {"", "image/png"}) {
      const auto ranges = frame_ranges(spans, object.size(), type, multipart_boundary(7));
      EXPECT_EQ(ranges.length_bytes, body_of(ranges, object).size()) << type;
      EXPECT_EQ(ranges.parts.size(), spans.size());
    }
  }
}

TEST(MultipartRangesTest, LengthGoesBeyond32Bits) {
  const std::vector<ByteSpan> spans{{0, 9'999'999'999}};
  const auto ranges = frame_ranges(spans, 20'000'000'000, "", "b");
  EXPECT_EQ(ranges.length_bytes,
            10'000'000'000 + ranges.parts[0].head.size() + ranges.closing.size());
}

TEST(MultipartBoundaryTest, Rfc2046Section5Point1Point1IsATokenOfOneLength) {
  EXPECT_EQ(multipart_boundary(0), "ringside-0000000000000000");
  EXPECT_EQ(multipart_boundary(0xfedcba9876543210), "ringside-fedcba9876543210");
  EXPECT_NE(multipart_boundary(1), multipart_boundary(2));
  EXPECT_TRUE(is_token(multipart_boundary(UINT64_MAX)));
}

TEST(MultipartRangesDeathTest, SpansLieInTheObject) {
  const std::vector<ByteSpan> beyond{{0, 10}};
  EXPECT_DEATH(static_cast<void>(frame_ranges(beyond, 10, "", "b")), "complete_length");
  EXPECT_DEATH(static_cast<void>(frame_ranges({}, 10, "", "b")), "empty");
}

}  // namespace
}  // namespace ringside::http
