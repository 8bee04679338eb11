#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/fields.h"

namespace ringside::http {

// The first of `classes` (content codings, or `identity`; a view into it) that the client's
// Accept-Encoding accepts (RFC 9110 §12.5.3): named with a weight above 0, or not named where `*`
// has one. Names in any case; x-gzip and x-compress are gzip and compress (§8.4.1). A client that
// says nothing gets nothing encoded, and a weight that is none counts as 0. Of a coding that is
// named twice the first weight counts.
[[nodiscard]] std::optional<std::string_view> content_coding_class(
    const Fields& request, const std::vector<std::string>& classes);

}  // namespace ringside::http
