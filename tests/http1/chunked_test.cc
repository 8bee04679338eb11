#include "http1/chunked.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace ringside::http {
namespace {

using namespace std::string_literals;

// A whole message fed in the given pieces: its body, whether it ended, and what was left over.
struct Outcome {
  std::string body;
  std::string error;
  bool done = false;
  std::size_t consumed = 0;
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << "{" << outcome.body << ", " << outcome.error << ", " << outcome.done << ", "
             << outcome.consumed << "}";
}

void feed(ChunkDecoder& decoder, std::string_view piece, Outcome& outcome) {
  while (!piece.empty() && !decoder.done() && outcome.error.empty()) {
    const auto step = decoder.decode(piece, ErrorSource::origin);
    if (!step) {
      EXPECT_EQ(step.error().kind, ErrorKind::malformed);
      EXPECT_EQ(step.error().source, ErrorSource::origin);
      outcome.error = step.error().message;
      return;
    }
    ASSERT_GT(step->consumed, 0u);
    outcome.body += step->data;
    outcome.consumed += step->consumed;
    piece.remove_prefix(step->consumed);
  }
}

Outcome decode(const std::vector<std::string_view>& pieces) {
  ChunkDecoder decoder;
  Outcome outcome;
  for (const std::string_view piece : pieces) feed(decoder, piece, outcome);
  outcome.done = decoder.done();
  // Where an error lies within a piece is not told, so that it depends on the cuts.
  if (!outcome.error.empty()) outcome.consumed = 0;
  return outcome;
}

std::vector<std::string_view> single_bytes(std::string_view message) {
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < message.size(); ++i) pieces.push_back(message.substr(i, 1));
  return pieces;
}

// Whole, in all cuts in two, and byte by byte: always the same.
Outcome decode_in_all_cuts(const std::string& message) {
  const std::string_view view = message;
  const Outcome whole = decode({view});
  EXPECT_EQ(decode(single_bytes(view)), whole) << message;
  for (std::size_t cut = 1; cut < view.size(); ++cut) {
    EXPECT_EQ(decode({view.substr(0, cut), view.substr(cut)}), whole)
        << message << " cut at " << cut;
  }
  return whole;
}

TEST(ChunkDecoder, Rfc9112Section7Point1Accepts) {
  struct Row {
    std::string message;
    std::string body;
  };
  const std::vector<Row> rows{
      {"0\r\n\r\n", ""},
      {"5\r\nhello\r\n0\r\n\r\n", "hello"},
      {"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"},
      {"a\r\n0123456789\r\nA\r\nabcdefghij\r\n00\r\n\r\n", "0123456789abcdefghij"},
      {"0000000000000001\r\nx\r\n0000000000000000\r\n\r\n", "x"},
      {"4\r\n\r\n\0\n\r\n0\r\n\r\n"s, "\r\n\0\n"s},
      {"1;a\r\nx\r\n0;b=c\r\n\r\n", "x"},
      {"1;a=\"b;\t\\\"c\\\\ \xc3\xa9\";d=e ; f\r\nx\r\n0\r\n\r\n", "x"},
      {"1; \ta \t= b\t;c=\"\" ; d = \"e\"\r\nx\r\n0\r\n\r\n", "x"},
      {"1\r\nx\r\n0\r\nTrailer: value\r\nOther:\r\nThird: \ta\xff\r\n\r\n", "x"},
  };
  for (const auto& row : rows) {
    const Outcome expected{row.body, "", true, row.message.size()};
    EXPECT_EQ(decode_in_all_cuts(row.message), expected) << row.message;
    // Not a byte of the next message is taken.
    EXPECT_EQ(decode_in_all_cuts(row.message + "GET / HTTP/1.1\r\n"), expected) << row.message;
  }
}

TEST(ChunkDecoder, Rfc9112Section7Point1Refuses) {
  struct Row {
    std::string message;
    std::string error;
  };
  const std::string no_size = "a chunk without a size";
  const std::string not_hex = "a chunk's size is not hexadecimal";
  const std::string too_large = "a chunk's size is too large";
  const std::string line_lf = "bare LF in a chunk's first line";
  const std::string line_cr = "bare CR in a chunk's first line";
  const std::string longer = "a chunk is longer than its size";
  const std::string extension = "invalid byte in a chunk extension";
  const std::string trailer_name = "invalid byte in a trailer's name";
  const std::string trailer_value = "bare LF or control byte in a trailer";
  const std::string fold = "white space before a trailer's name (obs-fold)";
  const std::vector<Row> rows{
      {"\r\n", no_size},
      {"x\r\n", no_size},
      {"-1\r\n", no_size},
      {"+1\r\n", no_size},
      {" 1\r\n", no_size},
      {";a\r\n", no_size},
      {"\n", no_size},
      {"0x1\r\n", not_hex},
      {"1g\r\n", not_hex},
      {"1 \r\n", not_hex},  // white space before the extension is BWS and nobody's need
      {"1 ;a\r\n", not_hex},
      {"1\t\r\n", not_hex},
      {"1,2\r\n", not_hex},
      {"1\0\r\n"s, not_hex},
      {"1_0\r\n", not_hex},
      {"1\nx\r\n", not_hex},
      {"10000000000000000\r\n", too_large},
      {"fffffffffffffffff\r\n", too_large},
      {"00000000000000001\r\n", too_large},
      {"1;a\nx\r\n", line_lf},
      {"1\rx\r\n", line_cr},
      {"1\r\r\n", line_cr},
      {"1;a\0\r\n"s, extension},
      {"1;a=(b)\r\n", extension},
      {"1;\xc3\xa9\r\n", extension},
      {"1;\r\nx\r\n", extension},
      {"1; \r\nx\r\n", extension},
      {"1;;a\r\n", extension},
      {"1;=b\r\n", extension},
      {"1;\"a\"\r\n", extension},
      {"1;a=\r\n", extension},
      {"1;a=;b\r\n", extension},
      {"1;a==b\r\n", extension},
      {"1;a=b=c\r\n", extension},
      {"1;a b\r\n", extension},
      {"1;a \r\n", extension},
      {"1;a=b \r\n", extension},
      {"1;a=b c\r\n", extension},
      {"1;a=b\"c\"\r\n", extension},
      {"1;a=\"b\"c\r\n", extension},
      {"1;a=\"b\" \r\n", extension},
      {"1;a=\"b\"=c\r\n", extension},
      {"1;a,b\r\n", extension},
      {"1;a\rb\r\n", line_cr},
      {"1;a=\"b\\\"\r\n", "control byte in a chunk extension"},
      {"1;a=\"b\r\n\"\r\n", "control byte in a chunk extension"},
      {"1;a=\"b\n\"\r\n", "control byte in a chunk extension"},
      {"1;a=\"\\\r\n\"\r\n", "control byte in a chunk extension"},
      {"1\r\nxy\r\n", longer},
      {"1\r\nx\n", longer},
      {"1\r\nx0\r\n\r\n", longer},
      {"1\r\nx\rx", "bare CR after a chunk"},
      {"0\r\n\rx", "bare CR after the trailers"},
      {"0\r\n\n", trailer_name},
      {"0\r\n: a\r\n\r\n", trailer_name},
      {"0\r\nA b: c\r\n\r\n", trailer_name},
      {"0\r\nA : c\r\n\r\n", trailer_name},
      {"0\r\nA\r\n\r\n", trailer_name},
      {"0\r\nA\nB: c\r\n\r\n", trailer_name},
      {"0\r\nA\0: c\r\n\r\n"s, trailer_name},
      {"0\r\nA: b\n\r\n", trailer_value},
      {"0\r\nA: b\0c\r\n\r\n"s, trailer_value},
      {"0\r\nA: b\x7f\r\n\r\n", trailer_value},
      {"0\r\nA: b\rc\r\n\r\n", "bare CR in a trailer"},
      {"0\r\nA: b\r\n c\r\n\r\n", fold},
      {"0\r\nA: b\r\n\tc\r\n\r\n", fold},
      {"0\r\n A: b\r\n\r\n", fold},
  };
  for (const auto& row : rows) {
    const Outcome outcome = decode_in_all_cuts(row.message);
    EXPECT_EQ(outcome.error, row.error) << row.message;
    EXPECT_FALSE(outcome.done) << row.message;
  }
}

TEST(ChunkDecoder, TheLargestSizeDoesNotOverflow) {
  const Outcome outcome = decode_in_all_cuts("ffffffffffffffff\r\nabc");
  EXPECT_EQ(outcome.body, "abc");
  EXPECT_EQ(outcome.error, "");
  EXPECT_FALSE(outcome.done);
}

TEST(ChunkDecoder, Rfc9112Section7Point1Point1BoundsExtensions) {
  const auto message = [](std::size_t line_size_bytes) {
    return "1;" + std::string(line_size_bytes - 2, 'a') + "\r\nx\r\n" + "0;" +
           std::string(line_size_bytes - 2, 'b') + "\r\n\r\n";
  };
  const std::size_t most = limits::chunk_line_size_bytes - 1;  // the CR is counted
  EXPECT_TRUE(decode({message(most)}).done);
  EXPECT_EQ(decode({message(most + 1)}).error, "a chunk's first line is too long");
  const std::string quoted = "1;a=\"" + std::string(limits::chunk_line_size_bytes, 'a');
  EXPECT_EQ(decode({quoted}).error, "a chunk's first line is too long");
}

TEST(ChunkDecoder, Rfc9112Section7Point1Point2BoundsTrailers) {
  const auto message = [](std::size_t trailer_size_bytes) {
    return "0\r\nA:" + std::string(trailer_size_bytes - 6, 'a') + "\r\n\r\n";
  };
  EXPECT_TRUE(decode({message(limits::trailer_size_bytes)}).done);
  EXPECT_EQ(decode({message(limits::trailer_size_bytes + 1)}).error, "trailers are too long");
  std::string many = "0\r\n";
  while (many.size() < limits::trailer_size_bytes + 8) many += "A:b\r\n";
  EXPECT_EQ(decode({many}).error, "trailers are too long");
}

TEST(ChunkDecoder, StopsAtDoneAndStartsAgainAfterReset) {
  ChunkDecoder decoder;
  const std::string message = "1;ext\r\nx\r\n0\r\nA: b\r\n\r\n";
  for (int round = 0; round < 3; ++round) {
    Outcome outcome;
    feed(decoder, message, outcome);
    ASSERT_TRUE(decoder.done());
    const auto after = decoder.decode("5\r\n", ErrorSource::client);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->consumed, 0u);
    decoder.reset();
    ASSERT_FALSE(decoder.done());
  }
}

TEST(ChunkDecoder, GivesPiecesWithoutACopy) {
  ChunkDecoder decoder;
  const std::string message = "5\r\nhello\r\n";
  const auto step = decoder.decode(message, ErrorSource::client);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->data.data(), message.data() + 3);
  EXPECT_EQ(step->consumed, 8u);
}

}  // namespace
}  // namespace ringside::http
