#include "tests/keys/origin.h"

#include <algorithm>
#include <vector>

#include "tests/keys/chain.h"

namespace ringside::keys {
namespace {

std::string folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return out;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 2, text.size()));
  return line;
}

std::string_view target_of(std::string_view head) {
  const std::string_view line = take_line(head);
  const std::size_t start = line.find(' ') + 1;
  return line.substr(start, line.rfind(' ') - start);
}

// Whether a pair is of the cookie `lang`, as the most generous reader takes it.
bool is_lang(const std::string& pair) { return folded(pair.substr(0, pair.find('='))) == "lang"; }

// The values of `lang`, by readers who know of quotes or don't, and of commas, and of case.
std::string langs(std::string_view cookies) {
  std::string out;
  for (const bool knows_quotes : {false, true}) {
    for (const std::string_view ends : {";", ";,"}) {
      std::string pair;
      bool inside = false;
      out += '|';
      for (const char c : std::string(cookies) + ";") {
        if (c == '"' && knows_quotes) inside = !inside;
        if (inside || ends.find(c) == ends.npos) {
          if (c != ' ' && c != '\t') pair += c;
          continue;
        }
        if (is_lang(pair)) out += pair + "&";
        pair.clear();
      }
    }
  }
  return out;
}

// proto= and host= of Forwarded; what for= and by= say are addresses.
std::string without_addresses(std::string_view forwarded) {
  std::string out;
  while (!forwarded.empty()) {
    const std::size_t end = std::min(forwarded.find_first_of(";,"), forwarded.size());
    std::string_view pair = forwarded.substr(0, end);
    forwarded.remove_prefix(std::min(end + 1, forwarded.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    const std::string name = folded(pair.substr(0, pair.find('=')));
    if (name != "for" && name != "by") out.append(pair).append(";");
  }
  return out;
}

bool is_of_the_request(const std::string& name) {
  static const std::vector<std::string> names = {
      "host",   "x-country", "x-original-url",         "x-rewrite-url", "x-original-uri",
      "x-host", "x-scheme",  "x-http-method-override", "x-http-method", "x-method-override"};
  return (name.starts_with("x-forwarded-") && name != "x-forwarded-for") ||
         std::find(names.begin(), names.end(), name) != names.end() ||
         std::find(vary().begin(), vary().end(), name) != vary().end();
}

}  // namespace

std::string echo(std::string_view head) {
  std::string out(target_of(head));
  const std::string path = path_as_read(head) + "/";
  const bool reads_plan = path.starts_with("/header/");
  const bool reads_cookies = path.starts_with("/cookie/");
  out += '\n';
  take_line(head);
  std::vector<std::string> lines;
  std::string cookies;
  while (!head.empty()) {
    const std::string_view line = take_line(head);
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string name = folded(line.substr(0, colon));
    const std::string_view value = line.substr(std::min(colon + 2, line.size()));
    if (is_of_the_request(name) || (reads_plan && name == "x-plan")) {
      lines.push_back(name + ": " + std::string(value));
    } else if (name == "forwarded") {
      lines.push_back(name + ": " + without_addresses(value));
    } else if (reads_cookies && name == "cookie") {
      cookies.append(value).append(";");
    }
  }
  if (reads_cookies) lines.push_back("cookie: " + langs(cookies));
  // Between fields of several names the order says nothing.
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.substr(0, a.find(':')) < b.substr(0, b.find(':'));
  });
  for (const std::string& line : lines) out.append(line).append("\n");
  return out;
}

std::string path_as_read(std::string_view head) {
  const std::string_view target = target_of(head);
  const std::string_view path = target.substr(0, target.find('?'));
  std::vector<std::string> segments;
  std::string segment;
  bool in_parameters = false;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    const std::string code = folded(path.substr(i, 3));
    const bool is_code = code == "%2f" || code == "%5c";
    if (i == path.size() || is_code || path[i] == '/' || path[i] == '\\') {
      if (segment == "..") {
        if (!segments.empty()) segments.pop_back();
      } else if (!segment.empty() && segment != ".") {
        segments.push_back(segment);
      }
      segment.clear();
      in_parameters = false;
      if (is_code) i += 2;
      continue;
    }
    in_parameters = in_parameters || path[i] == ';' || code == "%3b";
    if (!in_parameters) segment += path[i];
  }
  std::string out;
  for (const std::string& one : segments) out.append("/").append(one);
  return out.empty() ? "/" : out;
}

}  // namespace ringside::keys
