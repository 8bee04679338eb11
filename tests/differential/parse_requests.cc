// What Ringside's own parsers say of the bytes that a client sends on one connection; the oracle of
// the differential test. It reads streams from its input, each as 4 bytes of length (little endian)
// and so many bytes, and writes a line of JSON for each. Bytes stand in it as Latin-1.

#include <array>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "http/error_response.h"
#include "http/hop.h"
#include "http/target.h"
#include "http1/chunked.h"
#include "http1/head_parser.h"

namespace ringside {
namespace {

using nlohmann::json;

// JSON is UTF-8: each byte becomes the character of its number.
std::string latin1(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xc0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return out;
}

// Takes the body off the front of `rest`. False while its end is missing.
Result<bool> take_body(const http::Framing& framing, std::string_view& rest, std::string& body) {
  if (framing.kind == http::Framing::Kind::none) return true;
  if (framing.kind == http::Framing::Kind::length) {
    if (framing.length_bytes > limits::request_body_size_bytes) {
      return Error{ErrorKind::body_too_large, ErrorSource::client, Retry::no, "body too large"};
    }
    if (framing.length_bytes > rest.size()) return false;
    body = rest.substr(0, framing.length_bytes);
    rest.remove_prefix(body.size());
    return true;
  }
  http::ChunkDecoder decoder;
  while (!decoder.done()) {
    const auto step = decoder.decode(rest, ErrorSource::client);
    if (!step) return step.error();
    if (step->consumed == 0) return false;
    body += step->data;
    rest.remove_prefix(step->consumed);
  }
  return true;
}

json told_of(const http::RequestHead& head, const http::Target& target, const std::string& host) {
  constexpr std::array<const char*, 4> framings{"none", "length", "chunked", "until_close"};
  json fields = json::array();
  const http::HopByHop hop_by_hop(head.fields);
  for (const http::Field& field : head.fields) {
    if (http::is_internal(field.name) || hop_by_hop.has(field.name)) continue;
    if (field.name.find('_') != std::string_view::npos) continue;  // the sidecar drops them
    fields.push_back({latin1(field.name), latin1(field.value)});
  }
  return {{"method", std::string(head.method)},
          {"target", target.text()},
          {"host", host},
          {"framing", framings[static_cast<std::size_t>(head.framing.kind)]},
          {"fields", std::move(fields)}};
}

// One connection: its complete requests, and how it ends: `whole` (more might follow), `closed`
// (by us, after the last request), `cut` (in a request) or `refused` (with a status). `method` is
// that of the request that was cut or refused, where its head could be read.
class Reading {
 public:
  explicit Reading(std::string_view bytes) : rest_(bytes) {}

  json run() {
    while (end_.empty()) {
      if (rest_.empty()) {
        end_ = "whole";
      } else if (const auto read = read_one(); !read) {
        end_ = "refused";
        status_ = http::answer_for(read.error()).status;
        why_ = read.error().message;
      }
    }
    return {{"requests", std::move(requests_)},
            {"end", end_},
            {"status", status_},
            {"why", why_},
            {"method", method_}};
  }

 private:
  Result<void> read_one() {
    method_.clear();
    const http::HeadLimits limits = http::HeadLimits::defaults();
    const auto size = http::find_head_end(rest_, 0, limits, ErrorSource::client);
    if (!size) return size.error();
    if (!*size) {
      end_ = "cut";
      return {};
    }
    http::RequestHead head;
    const auto parsed = http::parse_request_head(rest_.substr(0, **size), limits, head);
    if (!parsed) return parsed.error();
    method_ = head.method;
    if (auto hop = http::look_at_hop(head, "nobody"); !hop) return hop.error();
    http::Target target;
    std::string host;
    if (auto normal = http::normalise_target(head.target, target); !normal) return normal.error();
    if (auto normal = http::normalise_host(head.host, host); !normal) return normal.error();
    rest_.remove_prefix(**size);
    std::string body;
    const auto took = take_body(head.framing, rest_, body);
    if (!took) return took.error();
    if (!*took) {
      end_ = "cut";
      return {};
    }
    json told = told_of(head, target, host);
    told["body"] = latin1(body);
    requests_.push_back(std::move(told));
    if (!head.keep_alive) end_ = "closed";
    return {};
  }

  std::string_view rest_;
  json requests_ = json::array();
  std::string end_;
  int status_ = 0;
  std::string why_;
  std::string method_;  // of the last request, where its head could be parsed
};

bool read_stream(std::string& bytes) {
  std::array<char, 4> size{};
  if (!std::cin.read(size.data(), size.size())) return false;
  std::uint32_t length = 0;
  for (std::size_t i = size.size(); i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(size.at(i));
  }
  bytes.resize(length);
  return static_cast<bool>(std::cin.read(bytes.data(), length));
}

}  // namespace
}  // namespace ringside

int main() {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  std::string bytes;
  while (ringside::read_stream(bytes)) {
    std::cout << ringside::Reading(bytes).run().dump() << '\n' << std::flush;
  }
  return 0;
}
