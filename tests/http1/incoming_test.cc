#include "http1/incoming.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/limits.h"
#include "http1/head_parser.h"
namespace ringside::http {
namespace {

// Takes messages out of a stream as it comes, and tells what it understood as text, in which bodies
// are in one piece: how they were cut is what may differ.
class Reader {
 public:
  explicit Reader(ErrorSource source) : requests_(source == ErrorSource::client) {}

  void feed(std::string_view bytes) {
    if (failed_ || bytes.empty()) return;
    Buffer& buffer = incoming_.buffer();
    buffer.reserve(bytes.size());
    std::memcpy(buffer.writable(), bytes.data(), bytes.size());
    buffer.commit(bytes.size());
    while (!failed_ && (in_body_ ? take_body() : take_head())) {
    }
  }
  std::string end() {
    if (!failed_ && in_body_) told_ += incoming_.end_with_close() ? "<closed>" : "<cut>";
    if (!failed_ && !in_body_ && !incoming_.empty()) told_ += "<head cut>";
    return told_;
  }

 private:
  void fail(const Error& error) {
    failed_ = true;
    told_.append("<").append(name(error.kind)).append(": ").append(error.message).append(">");
  }
  bool take_head() {
    const auto taken = requests_
                           ? incoming_.take_request(HeadLimits::defaults(), request_)
                           : incoming_.take_response(HeadLimits::defaults(), "GET", response_);
    if (!taken) return false;
    if (!*taken) {
      fail(taken->error());
      return false;
    }
    if (requests_) {
      told_.append(request_.method).append(" ").append(request_.target);
    } else {
      told_ += std::to_string(response_.status);
    }
    for (const Field& field : requests_ ? request_.fields : response_.fields) {
      told_.append("|").append(field.name).append("=").append(field.value);
    }
    told_ += "\n";
    in_body_ = true;
    return true;
  }
  bool take_body() {
    const auto piece = incoming_.take_body();
    if (!piece) return false;
    if (!*piece) {
      fail(piece->error());
      return false;
    }
    told_ += **piece;
    if (!(*piece)->empty()) return true;
    EXPECT_TRUE(incoming_.body_done());
    told_ += "<end>\n";
    in_body_ = false;
    return true;
  }

  const bool requests_;
  Incoming incoming_{requests_ ? ErrorSource::client : ErrorSource::origin};
  RequestHead request_;
  ResponseHead response_;
  std::string told_;
  bool in_body_ = false;
  bool failed_ = false;
};

std::string read_at_once(ErrorSource source, std::string_view stream) {
  Reader reader(source);
  reader.feed(stream);
  return reader.end();
}

std::string read_in_cuts(ErrorSource source, std::string_view stream, std::size_t most,
                         std::mt19937& random) {
  Reader reader(source);
  while (!stream.empty()) {
    const auto cut = stream.substr(0, std::uniform_int_distribution<std::size_t>(1, most)(random));
    reader.feed(cut);
    stream.remove_prefix(cut.size());
  }
  return reader.end();
}

struct StreamRow {
  ErrorSource source;
  std::string stream;
  std::string told;  // empty: whatever it is at once
};

std::vector<StreamRow> streams() {
  const auto client = ErrorSource::client;
  const auto origin = ErrorSource::origin;
  const std::string host = "Host: a\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";
  return {
      {client, "", ""},
      {client, "GET / HTTP/1.1\r\n" + host + "\r\n", "GET /|Host=a\n<end>\n"},
      {client, "\r\nGET / HTTP/1.1\r\n" + host + "\r\nGET", "GET /|Host=a\n<end>\n<head cut>"},
      {client,
       "PUT /1 HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhelloGET /2 HTTP/1.1\r\n" + host +
           "\r\n",
       "PUT /1|Host=a|Content-Length=5\nhello<end>\nGET /2|Host=a\n<end>\n"},
      {client,
       "PUT /1 HTTP/1.1\r\n" + host + chunked +
           "3;a=b\r\nabc\r\n0A\r\n0123456789\r\n0\r\nT: x\r\n\r\n"
           "GET /2 HTTP/1.1\r\n" +
           host + "\r\n",
       "PUT /1|Host=a|Transfer-Encoding=chunked\nabc0123456789<end>\nGET /2|Host=a\n<end>\n"},
      {client, "PUT /1 HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhell",
       "PUT /1|Host=a|Content-Length=5\nhell<cut>"},
      {client, "PUT /1 HTTP/1.1\r\n" + host + chunked + "2\r\nabc", ""},
      {client, "PUT /1 HTTP/1.1\r\n" + host + chunked + "xyz\r\n", ""},
      {client, "PUT /1 HTTP/1.1\r\n" + host + chunked + "2\nab\r\n0\r\n\r\n", ""},
      {client, "GET / HTTP/1.1\nHost: a\n\n", ""},
      {client, "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", ""},
      {client, "GET / HTTP/1.1\r\nHost : a\r\n\r\n", ""},
      {client, "GET /" + std::string(limits::request_line_size_bytes, 'x'), ""},
      {client, "GET / HTTP/1.1\r\nA: " + std::string(limits::head_size_bytes, 'x'), ""},
      {origin, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 204 No\r\n\r\n",
       "200|Content-Length=3\nabc<end>\n204\n<end>\n"},
      {origin, "HTTP/1.0 200 OK\r\n\r\nuntil it ends\r\n\r\n",
       "200\nuntil it ends\r\n\r\n<closed>"},
      {origin,
       "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n" + chunked + "1\r\na\r\n0\r\n\r\n",
       "103|Link=x\n<end>\n200|Transfer-Encoding=chunked\na<end>\n"},
      {origin, "HTTP/1.1 200 OK\r\n" + chunked + "1\r\na\r\n",
       "200|Transfer-Encoding=chunked\na<cut>"},
      {origin, "HTTP/1.1 2000 OK\r\n\r\n", ""},
  };
}

TEST(Incoming, UnderstandsTheSameHoweverTheBytesAreCut) {
  std::mt19937 random(7);
  for (const StreamRow& row : streams()) {
    const std::string whole = read_at_once(row.source, row.stream);
    if (!row.told.empty()) {
      EXPECT_EQ(whole, row.told);
    }
    for (const std::size_t most : {1U, 2U, 3U, 7U, 64U, 4096U}) {
      for (unsigned round = 0; round < (most == 1 ? 1U : 20U); ++round) {
        ASSERT_EQ(read_in_cuts(row.source, row.stream, most, random), whole)
            << row.stream.substr(0, 200) << " in cuts of up to " << most;
      }
    }
  }
}

TEST(Incoming, WhatIsRefusedIsRefusedWithItsKind) {
  unsigned refused = 0;
  for (const StreamRow& row : streams()) {
    if (!row.told.empty() || row.stream.empty()) continue;
    ++refused;
    const std::string told = read_at_once(row.source, row.stream);
    EXPECT_NE(told.find(": "), told.npos) << told << " for " << row.stream.substr(0, 200);
  }
  EXPECT_EQ(refused, 9U);
}

void add(Incoming& incoming, std::string_view bytes) {
  incoming.buffer().reserve(bytes.size());
  std::memcpy(incoming.buffer().writable(), bytes.data(), bytes.size());
  incoming.buffer().commit(bytes.size());
}

TEST(Incoming, AsksForNoMoreThanABodyOfKnownLength) {
  Incoming incoming(ErrorSource::client);
  RequestHead head;
  add(incoming, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
  ASSERT_TRUE(incoming.take_request(HeadLimits::defaults(), head));
  EXPECT_EQ(incoming.wanted_body_bytes(), 10U);
  add(incoming, "0123");
  EXPECT_EQ(incoming.take_body()->value(), "0123");
  EXPECT_EQ(incoming.wanted_body_bytes(), 6U);
  add(incoming, "456789GET");
  EXPECT_EQ(incoming.take_body()->value(), "456789");
  EXPECT_TRUE(incoming.body_done());
  EXPECT_FALSE(incoming.end_with_close());
  EXPECT_EQ(incoming.raw(), "GET");
}

TEST(Incoming, ItsMemoryIsCountedUntilItIsLetGo) {
  std::size_t account = 0;
  {
    Incoming incoming(ErrorSource::origin, &account);
    EXPECT_EQ(account, 0U);
    add(incoming, std::string(1000, 'x'));
    EXPECT_GE(account, 1000U);
    incoming.consume_raw(1000);
    incoming.buffer().release();
    EXPECT_EQ(account, 0U);
    add(incoming, "x");
    EXPECT_GT(account, 0U);
  }
  EXPECT_EQ(account, 0U);
}

}  // namespace
}  // namespace ringside::http
