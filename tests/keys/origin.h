#pragma once

#include <string>
#include <string_view>

// Origins as they are found, which read of a request more than HTTP says. None of it is made of the
// functions that are tested.
namespace ringside::keys {

// All of a request by which an answer may differ without that its Vary could say so, as the most
// careless of origins reads it: names without regard to `_` and `-`, other methods by
// X-HTTP-Method-Override, links by X-Forwarded-Host, cookies in whichever way. And the fields of
// `vary`, byte for byte. Not: the client's address, which no origin may go by where no key has it.
[[nodiscard]] std::string echo(std::string_view head);

// The path as it is read where %2F and backslashes are slashes, runs of them are one, parameters
// are cut off, and `..` goes up.
[[nodiscard]] std::string path_as_read(std::string_view head);

}  // namespace ringside::keys
