#include "cache/vary.h"

#include <algorithm>

namespace ringside::cache {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::vector<std::string> vary_names(const http::Fields& response_fields) {
  std::vector<std::string> names;
  for (const http::Field& field : response_fields) {
    if (!http::same_token(field.name, "vary")) continue;
    http::for_each_member(field.value,
                          [&](std::string_view member) { names.push_back(lower(member)); });
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string variant_key(const std::vector<std::string>& names, const http::Fields& request_fields) {
  std::string key;
  for (const std::string& name : names) {
    key.append(name);
    if (request_fields.has(name)) key.push_back(':');  // present, be it empty
    for (const http::Field& field : request_fields) {
      if (!http::same_token(field.name, name)) continue;
      http::for_each_member(field.value, [&](std::string_view member) {
        key.append(member);
        key.push_back(',');
      });
    }
    key.push_back('\n');
  }
  return key;
}

}  // namespace ringside::cache
