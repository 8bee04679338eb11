#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/fields.h"

namespace ringside::cache {

// The names that a response's Vary lists: lower case, sorted, each once (RFC 9111 §4.1).
[[nodiscard]] std::vector<std::string> vary_names(const http::Fields& response_fields);

// What a request says in those fields, as one string: equal strings, same variant. Absent and empty
// fields differ. Several lines are joined and white space around commas is folded (§4.1: values may
// be normalised where that can't change their meaning).
[[nodiscard]] std::string variant_key(const std::vector<std::string>& names,
                                      const http::Fields& request_fields);

}  // namespace ringside::cache
