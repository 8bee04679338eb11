#include "http/canonical_field.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::http {
namespace {

constexpr unsigned kMostWeight = 1000;  // q=1, in thousandths

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// How a field is read; the header has the rules.
enum class Kind { list, single, accept, coding, language, charset };

Kind kind_of(std::string_view name) noexcept {
  struct Named {
    std::string_view name;
    Kind kind;
  };
  static constexpr Named known[] = {
      {"accept", Kind::accept},
      {"accept-charset", Kind::charset},
      {"accept-encoding", Kind::coding},
      {"accept-language", Kind::language},
      {"authorization", Kind::single},
      {"content-type", Kind::single},
      {"cookie", Kind::single},
      {"date", Kind::single},
      {"from", Kind::single},
      {"host", Kind::single},
      {"if-match", Kind::single},  // entity tags have no backslashes that escape
      {"if-modified-since", Kind::single},
      {"if-none-match", Kind::single},
      {"if-range", Kind::single},
      {"if-unmodified-since", Kind::single},
      {"origin", Kind::single},
      {"proxy-authorization", Kind::single},
      {"range", Kind::single},
      {"referer", Kind::single},
      {"user-agent", Kind::single},
  };
  for (const Named& one : known) {
    if (same_token(one.name, name)) return one.kind;
  }
  return Kind::list;
}

// Whether every quoted string in it ends, so that joining lines can't make one of two.
bool has_whole_strings(std::string_view list) noexcept {
  bool inside = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '"') inside = !inside;
    if (list[i] == '\\' && inside) ++i;
  }
  return !inside;
}

// A language tag in its usual case (RFC 5646 §2.1.1): two letters big and four with a big first
// one, but at the beginning and behind a singleton.
std::string tag_in_usual_case(std::string_view tag) {
  std::string out = lower(tag);
  bool is_plain = true;
  bool has_singleton = false;
  for (std::size_t start = 0; start < out.size();) {
    const std::size_t end = std::min(out.find('-', start), out.size());
    const std::size_t big = is_plain ? 0 : end - start == 2 ? 2 : end - start == 4 ? 1 : 0;
    for (std::size_t i = start; i < start + big; ++i) {
      if (out[i] >= 'a' && out[i] <= 'z') out[i] = static_cast<char>(out[i] - 'a' + 'A');
    }
    has_singleton = has_singleton || end - start == 1;
    is_plain = has_singleton;
    start = end + 1;
  }
  return out;
}

struct Weighted {
  std::string what;
  unsigned weight = kMostWeight;
};

// qvalue (RFC 9110 §12.4.2) in thousandths.
std::optional<unsigned> weight_of(std::string_view text) noexcept {
  constexpr std::size_t most_digits = 3;  // behind the point
  if (text.empty() || (text.front() != '0' && text.front() != '1')) return std::nullopt;
  unsigned weight = text.front() == '1' ? 1 : 0;
  text.remove_prefix(1);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
  } else if (!text.empty()) {
    return std::nullopt;
  }
  if (text.size() > most_digits) return std::nullopt;
  for (std::size_t i = 0; i < most_digits; ++i) {
    if (i < text.size() && !is_in(text[i], kDigitClass)) return std::nullopt;
    weight = weight * 10 + (i < text.size() ? static_cast<unsigned>(text[i] - '0') : 0U);
  }
  if (weight > kMostWeight) return std::nullopt;
  return weight;
}

// language-range (RFC 4647 §2.1): `*`, or subtags of one to eight letters and digits, the first of
// letters only.
bool is_language_range(std::string_view text) noexcept {
  constexpr std::size_t longest = 8;
  if (text == "*") return true;
  bool is_first = true;
  std::size_t length = 0;
  for (const char c : text) {
    if (c == '-') {
      if (length == 0) return false;
      is_first = false;
      length = 0;
      continue;
    }
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool fits = is_letter || (!is_first && is_in(c, kDigitClass));
    if (!fits || ++length > longest) return false;
  }
  return length > 0;
}

bool is_media_range(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return false;
  const std::string_view type = text.substr(0, slash);
  const std::string_view subtype = text.substr(slash + 1);
  return is_token(type) && is_token(subtype) && (type != "*" || subtype == "*");
}

bool is_well_formed(Kind kind, std::string_view what) noexcept {
  if (kind == Kind::language) return is_language_range(what);
  if (kind == Kind::accept) return is_media_range(what);
  return is_token(what);
}

// `what`, or `what;q=weight`; nullopt for anything else.
std::optional<Weighted> weighted(Kind kind, std::string_view member) {
  const std::size_t semicolon = member.find(';');
  const std::string_view what = trimmed(member.substr(0, semicolon));
  if (!is_well_formed(kind, what)) return std::nullopt;
  Weighted out{kind == Kind::language ? tag_in_usual_case(what) : lower(what)};
  if (semicolon == member.npos) return out;
  const std::string_view parameter = trimmed(member.substr(semicolon + 1));
  if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return std::nullopt;
  const auto weight = weight_of(parameter.substr(2));
  if (!weight) return std::nullopt;
  out.weight = *weight;
  return out;
}

std::string text_of(const Weighted& member) {
  if (member.weight == kMostWeight) return member.what;
  if (member.weight == 0) return member.what + ";q=0";
  std::string digits = std::to_string(kMostWeight + member.weight).substr(1);
  while (digits.back() == '0') digits.pop_back();
  return member.what + ";q=0." + digits;
}

std::string normal_media_range(std::string_view member) {
  const auto range = weighted(Kind::accept, member);
  return range ? text_of(*range) : std::string(member);
}

// False where two members give one thing different weights: what is meant is up to the origin.
// Repetitions go, the first stays.
bool without_repetitions(std::vector<Weighted>& members) {
  std::vector<Weighted> kept;
  for (Weighted& member : members) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&member](const Weighted& other) {
      return other.what == member.what;
    });
    if (same == kept.end()) {
      kept.push_back(std::move(member));
    } else if (same->weight != member.weight) {
      return false;
    }
  }
  members = std::move(kept);
  return true;
}

// Rewrites the members, or leaves them where they are not all understood.
void normalise_weighted(Kind kind, std::vector<std::string>& members) {
  std::vector<Weighted> parsed;
  for (const std::string& member : members) {
    auto one = weighted(kind, member);
    if (!one) return;
    parsed.push_back(std::move(*one));
  }
  if (!without_repetitions(parsed)) return;
  std::stable_sort(parsed.begin(), parsed.end(), [kind](const Weighted& a, const Weighted& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    return kind == Kind::coding && a.what < b.what;
  });
  members.clear();
  for (const Weighted& member : parsed) members.push_back(text_of(member));
}

void normalise(Kind kind, std::vector<std::string>& members) {
  if (members.size() > limits::structured_members) return;
  if (kind == Kind::accept) {
    for (std::string& member : members) member = normal_media_range(member);
  } else {
    normalise_weighted(kind, members);
  }
}

// Whether somebody may have signed the bytes of any field.
bool may_be_signed(const Fields& request) noexcept {
  constexpr std::array<std::string_view, 2> telling = {"authorization", "signature"};
  return std::any_of(telling.begin(), telling.end(),
                     [&request](std::string_view name) { return request.has(name); });
}

bool is_list(Kind kind, std::string_view name, const Fields& request) noexcept {
  if (kind == Kind::single || may_be_signed(request)) return false;
  return std::all_of(request.begin(), request.end(), [name](const Field& field) {
    return !same_token(field.name, name) || has_whole_strings(field.value);
  });
}

// The members of a line, also the empty ones: an empty line has one.
template <class Visit>
void for_each_written_member(std::string_view line, const Visit& visit) {
  for (std::size_t start = 0; start <= line.size();) {
    const std::size_t end = end_of_member(line, start);
    visit(trimmed(line.substr(start, end - start)));
    start = end + 1;
  }
}

void append_member(std::string& out, std::string_view member, bool is_first) {
  if (!is_first) out.append(member.empty() ? "," : ", ");
  out.append(member);
}

// All lines as one.
void append_list(std::string& out, const Fields& request, std::string_view name) {
  bool is_first = true;
  for (const Field& field : request) {
    if (!same_token(field.name, name)) continue;
    for_each_written_member(field.value, [&](std::string_view member) {
      append_member(out, member, is_first);
      is_first = false;
    });
  }
}

void append_known(std::string& out, const Fields& request, std::string_view name, Kind kind) {
  std::vector<std::string> members;
  for (const Field& field : request) {
    if (!same_token(field.name, name)) continue;
    for_each_member(field.value,
                    [&members](std::string_view member) { members.emplace_back(member); });
  }
  normalise(kind, members);
  for (const std::string& member : members) append_member(out, member, &member == &members.front());
}

}  // namespace

void append_canonical(std::string& out, const Fields& request, std::string_view name) {
  if (!request.has(name)) return;
  const Kind kind = kind_of(name);
  if (is_list(kind, name, request)) {
    if (kind == Kind::list) {
      append_list(out, request, name);
    } else {
      append_known(out, request, name, kind);
    }
    out.push_back('\r');
    return;
  }
  for (const Field& field : request) {
    if (same_token(field.name, name)) out.append(field.value).push_back('\r');
  }
}

void add_canonical(FieldLines& out, const Fields& request, const Field& first) {
  std::string values;
  append_canonical(values, request, first.name);
  for (std::size_t start = 0; start < values.size();) {
    const std::size_t end = values.find('\r', start);
    out.add(first.name, std::string_view(values).substr(start, end - start));
    start = end + 1;
  }
}

bool is_continued_line(const Fields& request, const Field& line) noexcept {
  for (const Field& other : request) {
    if (&other == &line) return false;
    if (same_token(other.name, line.name)) return true;
  }
  return false;
}

}  // namespace ringside::http
