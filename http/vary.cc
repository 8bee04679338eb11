#include "http/vary.h"

#include <algorithm>

#include "base/limits.h"
#include "http/canonical_field.h"
#include "http/characters.h"

namespace ringside::http {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::vector<std::string> vary_names(const Fields& response_fields) {
  std::vector<std::string> names;
  bool is_anything = false;
  for (const Field& field : response_fields) {
    if (!same_token(field.name, "vary")) continue;
    for_each_member(field.value, [&](std::string_view member) {
      is_anything = is_anything || member == "*" || !is_token(member);
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

std::string variant_key(const std::vector<std::string>& names, const Fields& request_fields) {
  std::string key;
  for (const std::string& name : names) {
    key.append(name).push_back(':');
    append_canonical(key, request_fields, name);
    key.push_back('\n');
  }
  return key;
}

}  // namespace ringside::http
