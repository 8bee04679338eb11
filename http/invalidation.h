#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/fields.h"
#include "http/target.h"

namespace ringside::http {

// What an answer from the origin makes invalid (RFC 9111 §4.4): after a 2xx or 3xx to a method that
// is not known to be safe (so any unknown one counts, RFC 9110 §9.2.1) the request's own URI, and
// those in Location and Content-Location that are of its origin. As path and query in their normal
// form, each once, at most three. `host` and `target` are the request's, in their normal forms.
//
// The same origin is the same host and port. The scheme that clients see is not known where TLS
// ends before us, so `https` counts beside `http`, each with its default port. Nobody else's
// entries can be lost by that: what is invalid is so in both schemes.
//
// Never "*", which means everything elsewhere, and nothing that is too long to be asked for.
[[nodiscard]] std::vector<std::string> invalidated_targets(std::string_view method,
                                                           std::string_view host,
                                                           const Target& target, int status,
                                                           const Fields& response);

// The path and query, in their normal form, that a URI reference in an answer means where it is of
// the request's origin (RFC 3986 §5.2; the same as above); nullopt elsewhere, and where it is none.
[[nodiscard]] std::optional<std::string> target_of_reference(std::string_view reference,
                                                             std::string_view host,
                                                             const Target& base);

}  // namespace ringside::http
