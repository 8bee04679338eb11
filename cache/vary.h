#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/fields.h"

namespace ringside::cache {

// The names that a response's Vary lists: lower case, sorted, each once (RFC 9111 §4.1). `*` alone
// where it stands among them, where a member is no field name, and where there are more names than
// a request may have fields (limits::head_fields): such a response fits no other request.
[[nodiscard]] std::vector<std::string> vary_names(const http::Fields& response_fields);

// Whether the names, as vary_names made them, are `*`: then nothing may be reused, and the
// variant_key of a request says nothing.
[[nodiscard]] bool varies_on_anything(const std::vector<std::string>& names) noexcept;

// What a request says in those fields, as one string: equal strings, same variant. Absent and empty
// fields differ.
//
// Values are normalised where that can't change what they mean (§4.1), and else stay apart: a
// needless miss costs a fetch, a wrong hit is a wrong answer.
// - Lists: several lines are joined, white space around commas goes, and so do empty members. But
//   not in fields that are known to be no lists, such as Cookie and User-Agent, nor where a quoted
//   string has no end.
// - Accept-Encoding, Accept-Language, Accept-Charset (RFC 9110 §12.5.2 to §12.5.4): case, the way
//   a weight is written, and repeated members. Members go by weight. The order of equal ones means
//   nothing in Accept-Encoding; in the other two origins do go by it ("some recipients treat the
//   order in which language tags are listed as an indication of descending priority", §12.5.4), so
//   `en, de` and `de, en` stay two variants.
// - Accept (§12.5.1): case of media ranges without parameters, and how their weights are written.
//   A range with parameters stays as it is, and so does the order.
// A field of these four with a member that its grammar does not have, with two weights for one
// thing, or with more than limits::structured_members members is a list like any other.
[[nodiscard]] std::string variant_key(const std::vector<std::string>& names,
                                      const http::Fields& request_fields);

}  // namespace ringside::cache
