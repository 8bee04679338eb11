#include "cache/vary.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::cache {
namespace {

constexpr unsigned kMostWeight = 1000;  // q=1, in thousandths

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The members of a request's field. How each kind of field is read is in vary.h.
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
      {"if-modified-since", Kind::single},
      {"if-range", Kind::single},
      {"if-unmodified-since", Kind::single},
      {"origin", Kind::single},
      {"proxy-authorization", Kind::single},
      {"referer", Kind::single},
      {"user-agent", Kind::single},
  };
  for (const Named& one : known) {
    if (one.name == name) return one.kind;
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
    if (i < text.size() && !http::is_in(text[i], http::kDigitClass)) return std::nullopt;
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
    const bool fits = is_letter || (!is_first && http::is_in(c, http::kDigitClass));
    if (!fits || ++length > longest) return false;
  }
  return length > 0;
}

bool is_media_range(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return false;
  const std::string_view type = text.substr(0, slash);
  const std::string_view subtype = text.substr(slash + 1);
  return http::is_token(type) && http::is_token(subtype) && (type != "*" || subtype == "*");
}

bool is_well_formed(Kind kind, std::string_view what) noexcept {
  if (kind == Kind::language) return is_language_range(what);
  if (kind == Kind::accept) return is_media_range(what);
  return http::is_token(what);
}

// `what`, or `what;q=weight`; nullopt for anything else.
std::optional<Weighted> weighted(Kind kind, std::string_view member) {
  const std::size_t semicolon = member.find(';');
  const std::string_view what = http::trimmed(member.substr(0, semicolon));
  if (!is_well_formed(kind, what)) return std::nullopt;
  if (semicolon == member.npos) return Weighted{lower(what)};
  const std::string_view parameter = http::trimmed(member.substr(semicolon + 1));
  if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return std::nullopt;
  const auto weight = weight_of(parameter.substr(2));
  if (!weight) return std::nullopt;
  return Weighted{lower(what), *weight};
}

// As the grammar has it, so that no field that is left as it came can look like one rewritten.
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

bool is_list(Kind kind, std::string_view name, const http::Fields& fields) noexcept {
  if (kind == Kind::single) return false;
  return std::all_of(fields.begin(), fields.end(), [name](const http::Field& field) {
    return !http::same_token(field.name, name) || has_whole_strings(field.value);
  });
}

// No value has a carriage return or a line feed, so what is appended can't be taken for more.
void append_lines(std::string_view name, const http::Fields& fields, std::string& key) {
  for (const http::Field& field : fields) {
    if (http::same_token(field.name, name)) key.append(field.value).push_back('\r');
  }
}

void append_members(Kind kind, std::string_view name, const http::Fields& fields,
                    std::string& key) {
  if (kind == Kind::list) {
    for (const http::Field& field : fields) {
      if (!http::same_token(field.name, name)) continue;
      http::for_each_member(field.value,
                            [&key](std::string_view member) { key.append(member).push_back(','); });
    }
    return;
  }
  std::vector<std::string> members;
  for (const http::Field& field : fields) {
    if (!http::same_token(field.name, name)) continue;
    http::for_each_member(field.value,
                          [&members](std::string_view member) { members.emplace_back(member); });
  }
  normalise(kind, members);
  for (const std::string& member : members) key.append(member).push_back(',');
}

}  // namespace

std::vector<std::string> vary_names(const http::Fields& response_fields) {
  std::vector<std::string> names;
  bool is_anything = false;
  for (const http::Field& field : response_fields) {
    if (!http::same_token(field.name, "vary")) continue;
    http::for_each_member(field.value, [&](std::string_view member) {
      is_anything = is_anything || member == "*" || !http::is_token(member);
      names.push_back(lower(member));
    });
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (is_anything || names.size() > limits::head_fields) names.assign(1, "*");
  return names;
}

bool varies_on_anything(const std::vector<std::string>& names) noexcept {
  return names.size() == 1 && names.front() == "*";
}

std::string variant_key(const std::vector<std::string>& names, const http::Fields& request_fields) {
  std::string key;
  for (const std::string& name : names) {
    key.append(name);
    if (request_fields.has(name)) {
      key.push_back(':');  // present, be it empty
      const Kind kind = kind_of(name);
      if (is_list(kind, name, request_fields)) {
        append_members(kind, name, request_fields, key);
      } else {
        append_lines(name, request_fields, key);
      }
    }
    key.push_back('\n');
  }
  return key;
}

}  // namespace ringside::cache
