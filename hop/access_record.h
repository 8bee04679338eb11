#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/clock.h"
#include "base/limits.h"
#include "http/head.h"

namespace ringside::hop {

class LogReader;

// Those who are to be told of a record: some of a list, by their places in it.
struct Followers {
  std::shared_ptr<const std::vector<std::shared_ptr<LogReader>>> list{};  // null: nobody
  std::bitset<limits::log_readers> chosen{};
};

// What the access log tells of one request. Reused, so that its strings keep their capacity.
struct AccessRecord {
  TimePoint time{};     // when its head had come
  IpAddress client;     // as this process knows it
  std::string request;  // `GET /a?b HTTP/1.1`; empty: no head could be read
  std::string host;     // as received; this and those below are empty where there was none
  std::string referer;
  std::string user_agent;
  int status = 0;  // of the answer; 0: none was sent
  std::uint64_t body_bytes = 0;
  std::chrono::microseconds duration{0};
  std::string_view result;  // metrics::name of the outcome; static
  std::string replica;      // that answered; empty: none
  std::array<char, 2> country{'Z', 'Z'};
  Followers followers{};

  // Begins the record of a request and forgets the one before. Copies what it needs of the head,
  // whose views end when the body is read; each field is cut at
  // limits::access_log_field_size_bytes. `head` is null where none could be read.
  void begin(TimePoint now, const IpAddress& from, const http::RequestHead* head);
  // Completes it. `outcome` is static; a country that is not two upper-case letters is ZZ.
  void end(std::string_view outcome, std::string_view country_code, std::chrono::microseconds took,
           std::uint64_t bytes) noexcept;
};

// Appends the record's line with its newline: the Combined Log Format, and fields of our own behind
// it that readers of that format pass over:
//
//   %h - - [%t] "%r" %>s %b "%{Referer}i" "%{User-Agent}i" host="…" time=0.000412 result=hit
//   replica=cache-3 country=GB
//
// No client can forge or break a line: in what clients say, quotes and backslashes are escaped with
// a backslash, and all bytes but visible ASCII and spaces are `\xhh`, as Apache writes them. A cut
// field ends in ` ...`; of a target, which can't hold a space, this tells readers that it is not
// whole.
void append_log_line(std::string& out, const AccessRecord& record);

}  // namespace ringside::hop
