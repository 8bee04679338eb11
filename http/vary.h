#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/fields.h"

namespace ringside::http {

// The names that a response's Vary lists: lower case, sorted, each once (RFC 9111 §4.1). `*` alone
// where it stands among them, where a member is no field name, and where there are more names than
// a request may have fields (limits::head_fields): such a response fits no other request.
[[nodiscard]] std::vector<std::string> vary_names(const Fields& response_fields);

// Whether the names, as vary_names made them, are `*`: then nothing may be reused, and the
// variant_key of a request says nothing.
[[nodiscard]] bool varies_on_anything(const std::vector<std::string>& names) noexcept;

// What a request says in those fields, as one string: equal strings, same variant. Absent and empty
// fields differ. It is made of what the origin is sent of them (http/canonical_field.h), byte for
// byte: a needless miss costs a fetch, a wrong hit is a wrong answer.
[[nodiscard]] std::string variant_key(const std::vector<std::string>& names,
                                      const Fields& request_fields);

}  // namespace ringside::http
