// Requests of several clients, each a head with LF for CRLF and a NUL behind it; one whose first
// byte is an x comes from a trusted proxy. What is keyed is what is forwarded (tests/keys).
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

#include "tests/fuzz/fuzzer.h"
#include "tests/keys/trial.h"

namespace ringside::fuzz {
namespace {

// Each is told from all before it.
constexpr std::size_t requests_most = 8;

std::string head_of(std::string_view text) {
  std::string head;
  for (const char c : text) {
    if (c == '\n') head += '\r';
    head += c;
  }
  return head + "\r\n\r\n";
}

}  // namespace

void examine(std::string_view input) {
  keys::Trial trial;
  for (std::size_t count = 0; count < requests_most && !input.empty(); ++count) {
    const std::size_t end = std::min(input.find('\0'), input.size());
    std::string_view request = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    const bool is_trusted = request.starts_with('x');
    if (is_trusted) request.remove_prefix(1);
    const std::string objection =
        trial.objection({head_of(request), is_trusted ? "10.0.0.1" : "203.0.113.9"});
    if (!objection.empty()) std::fprintf(stderr, "%s\n", objection.c_str());
    RINGSIDE_CHECK(objection.empty());
  }
}

}  // namespace ringside::fuzz
