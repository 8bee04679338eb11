#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "link/frame.h"

// Requests as they are asked of a member, and payloads put together by hand, right or wrong.
namespace ringside::link {

// Little-endian.
inline std::string number_bytes(std::uint64_t number, int size_bytes) {
  std::string bytes;
  for (int i = 0; i < size_bytes; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

inline hop::UpstreamRequest some_request(std::string_view method, const http::Target& target,
                                         std::string_view host, std::string_view lines) {
  hop::UpstreamRequest request;
  request.method = method;
  request.target = &target;
  request.host = host;
  request.fields = lines;
  return request;
}

// Sizes are those of what is there, unless they lie.
struct RequestPayload {
  std::string method = "GET";
  std::string target = "/";
  std::string host = "a.example";
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::optional<std::uint64_t> method_bytes = {};
  std::optional<std::uint64_t> target_bytes = {};
  std::optional<std::uint64_t> host_bytes = {};
  std::optional<std::uint64_t> count = {};
  std::optional<std::pair<std::size_t, std::size_t>> first_sizes = {};  // of name and value
  std::string name_end = ": ";
  std::string line_end = "\r\n";

  [[nodiscard]] std::string bytes() const {
    std::string sizes;
    std::string lines;
    for (const auto& [name, value] : fields) {
      const bool lies = first_sizes && sizes.empty();
      sizes += number_bytes(lies ? first_sizes->first : name.size(), 2);
      sizes += number_bytes(lies ? first_sizes->second : value.size(), 2);
      lines.append(name).append(name_end).append(value).append(line_end);
    }
    return number_bytes(method_bytes.value_or(method.size()), 2) +
           number_bytes(count.value_or(fields.size()), 2) +
           number_bytes(host_bytes.value_or(host.size()), 2) + number_bytes(0, 2) +
           number_bytes(target_bytes.value_or(target.size()), 4) + sizes + method + host + target +
           lines;
  }
};

// Of an answer or an interim response.
struct ResponsePayload {
  std::uint64_t status = 200;
  std::string ready = {};
  std::string rest = {};
  std::string content = {};
  std::string reason = "OK";
  std::uint64_t flags = 1;  // the length is known
  std::optional<std::uint64_t> reason_bytes = {};
  std::optional<std::uint64_t> ready_bytes = {};
  std::optional<std::uint64_t> rest_bytes = {};

  [[nodiscard]] std::string bytes() const {
    return number_bytes(status, 2) + number_bytes(flags, 2) +
           number_bytes(reason_bytes.value_or(reason.size()), 2) + number_bytes(0, 2) +
           number_bytes(ready_bytes.value_or(ready.size()), 4) +
           number_bytes(rest_bytes.value_or(rest.size()), 4) + reason + ready + rest + content;
  }
};

// A frame that owns its bytes.
struct OwnedFrame {
  FrameType type{};
  Stream stream = 0;
  std::string payload;
};

inline std::string frame_bytes(FrameType type, Stream stream, const std::string& payload) {
  return number_bytes(payload.size(), 4) + number_bytes(static_cast<unsigned>(type), 1) +
         number_bytes(0, 1) + number_bytes(stream, 2) + payload;
}

}  // namespace ringside::link
