#include "replay/access_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <system_error>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::replay {
namespace {

// Takes one line apart from the left.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  // Up to the next space, which must be there.
  std::optional<std::string_view> word() {
    const std::size_t space = rest_.find(' ');
    if (space == 0 || space == std::string_view::npos) return std::nullopt;
    const std::string_view taken = rest_.substr(0, space);
    rest_.remove_prefix(space + 1);
    return taken;
  }
  std::optional<std::string_view> between(char open, std::string_view close) {
    if (!rest_.starts_with(open)) return std::nullopt;
    const std::size_t end = rest_.find(close, 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view taken = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + close.size());
    return taken;
  }
  // A quoted string, with its backslashes as they stand, and the space after it.
  std::optional<std::string_view> quoted() {
    if (!rest_.starts_with('"')) return std::nullopt;
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end + 1 >= rest_.size() || rest_[end + 1] != ' ') return std::nullopt;
    const std::string_view taken = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 2);
    return taken;
  }
  // Digits, or the `-` of no value; ends at a space or the end of the line.
  std::optional<std::string_view> number() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view taken = rest_.substr(0, end);
    const bool is_number = !taken.empty() && std::all_of(taken.begin(), taken.end(), [](char c) {
      return http::is_in(c, http::kDigitClass);
    });
    if (!is_number && taken != "-") return std::nullopt;
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return taken;
  }

 private:
  std::string_view rest_;
};

// What servers write for bytes that would break the line: `\"`, `\\`, `\n` and its like, `\xhh`.
std::string unescaped(std::string_view text) {
  constexpr std::string_view letters = "bnrtv";
  constexpr std::string_view bytes = "\b\n\r\t\v";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == 'x' && i + 2 < text.size() && http::hex_value(text[i + 1]) >= 0 &&
        http::hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(http::hex_value(text[i + 1]) * 16 + http::hex_value(text[i + 2]));
      i += 2;
    } else if (const auto at = letters.find(next); at != std::string_view::npos) {
      out += bytes[at];
    } else {
      out += next;
    }
  }
  return out;
}

Error other_format(std::string_view what) {
  return invalid_input(
      fmt::format("no line of the Combined Log Format: {} (`%h %l %u %t \"%r\" %>s %b …`)", what));
}

Result<LogRequest> parse_request(std::string_view quoted) {
  const std::string line = unescaped(quoted);
  if (line == "-" || line.empty()) return invalid_input("the client sent no request");
  const std::size_t method_end = line.find(' ');
  const std::string_view method = std::string_view(line).substr(0, method_end);
  if (!http::is_token(method)) return invalid_input("what the client sent is no HTTP request");
  if (method_end == std::string::npos) return invalid_input("the request has no target");
  std::string_view target = std::string_view(line).substr(method_end + 1);
  const std::size_t version = target.rfind(" HTTP/");
  if (version != std::string_view::npos) target = target.substr(0, version);
  if (method == "CONNECT")
    return invalid_input("CONNECT asks for a tunnel, which can't be replayed");
  if (target.size() + method.size() > limits::request_line_size_bytes) {
    return invalid_input("the request line is too long to be sent");
  }
  const bool visible = std::all_of(target.begin(), target.end(),
                                   [](char c) { return http::is_in(c, http::kVisibleClass); });
  if (target.empty() || !visible) {
    return invalid_input("the target has spaces or control bytes, which HTTP can't carry");
  }
  if (!target.starts_with('/') && target != "*" && !target.starts_with("http://") &&
      !target.starts_with("https://")) {
    return invalid_input("the target is neither a path nor a URL");
  }
  return LogRequest{{}, std::string(method), std::string(target), 0};
}

}  // namespace

Result<LogRequest> parse_log_line(std::string_view line) {
  LineReader reader(line);
  const auto client = reader.word();
  if (!client) return other_format("it has no client address");
  if (!reader.word() || !reader.word()) return other_format("identity and user are missing");
  if (!reader.between('[', "] ")) return other_format("no [time] follows the user");
  const auto request = reader.quoted();
  if (!request) return other_format("no \"request\" follows the time");
  const auto status = reader.number();
  if (!status || (status->size() != 3 && *status != "-")) {
    return other_format("no status follows the request");
  }
  if (!reader.number()) return other_format("no size follows the status");
  const auto address = IpAddress::try_parse(*client);
  if (!address) {
    return invalid_input(
        "the client is no IP address (a log with host names has no countries to tell)");
  }
  auto parsed = parse_request(*request);
  if (parsed) parsed->client = *address;
  return parsed;
}

Result<AccessLog> read_access_log(std::istream& in, const std::string& name, std::uint64_t limit) {
  AccessLog log;
  std::string buffer(limits::replay_line_size_bytes + 1, '\0');
  const auto skip = [&log](std::string why) {
    ++log.skipped;
    if (log.first_skipped.size() < limits::replay_skipped_shown) {
      log.first_skipped.push_back({log.lines, std::move(why)});
    }
  };
  while (limit == 0 || log.requests.size() < limit) {
    in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    auto size = static_cast<std::size_t>(in.gcount());
    if (in.bad() || (in.eof() && size == 0)) break;
    ++log.lines;
    if (in.fail() && !in.eof()) {
      in.clear();
      in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      skip(fmt::format("longer than {} bytes", limits::replay_line_size_bytes));
      continue;
    }
    if (!in.eof()) --size;  // the newline is counted, and left out
    std::string_view line(buffer.data(), size);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    auto request = parse_log_line(line);
    if (!request) {
      skip(request.error().message);
      continue;
    }
    if (log.requests.size() == limits::replay_requests) {
      return invalid_input(
          fmt::format("{}: more than {} requests; give --limit N to replay the first", name,
                      limits::replay_requests));
    }
    request->line = log.lines;
    log.requests.push_back(std::move(*request));
  }
  if (in.bad()) return invalid_input(fmt::format("{}: cannot be read; give a file", name));
  if (log.requests.empty()) {
    return invalid_input(
        log.first_skipped.empty()
            ? fmt::format("{}: has no requests; give an access log in Combined Log Format", name)
            : fmt::format("{}: none of its {} lines is a request to replay; line {}: {}", name,
                          log.lines, log.first_skipped[0].line, log.first_skipped[0].why));
  }
  return log;
}

Result<AccessLog> read_access_log(const std::string& path, std::uint64_t limit) {
  if (path == "-") return read_access_log(std::cin, "stdin", limit);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return invalid_input(
        fmt::format("{}: {}; give an access log in Combined Log Format, or - for stdin", path,
                    std::generic_category().message(errno)));
  }
  return read_access_log(file, path, limit);
}

}  // namespace ringside::replay
