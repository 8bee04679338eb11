#pragma once

#include <string_view>

#include "http/head.h"
#include "sidecar/decision.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// Takes from a request all fields that go no further than here, once it is known who sent it and
// what its hop is. What is left is what the shard key and the extra key are made of, and what goes
// upstream: so nothing is keyed that the origin does not get, and what it gets beside that we say
// ourselves (write_upstream_fields). Gone are:
// - what concerns the client's connection alone, and what we write anew;
// - the internal fields, which are ours to say;
// - names with an underscore, unless they are let: WSGI and CGI know no difference between `_` and
//   `-`, and would read `X_Country` as the field that we write;
// - what only proxies may say, where the peer is none that is trusted: no key holds it, so it would
//   change what is stored for all;
// - of GET and HEAD what makes another method of them: the answer would be stored as that of a GET.
// The hops that a trusted peer tells of are kept in the decision, to be continued.
void make_canonical(http::RequestHead& request, const Settings& settings, Decision& decision);

// Fields that are never passed on as they came, from whomever; tells_address has more.
[[nodiscard]] bool is_written_anew(std::string_view field_name) noexcept;

// Fields by which proxies tell an application what the client asked for, beside the addresses and
// the scheme, which we write anew. Left in a canonical request they are a trusted peer's, and may
// change the answer: they are a part of the cache key.
[[nodiscard]] bool is_of_proxies(std::string_view field_name) noexcept;

// Likewise, where they tell the client's address: written anew, with the address as we know it.
[[nodiscard]] bool tells_address(std::string_view field_name) noexcept;

}  // namespace ringside::sidecar
