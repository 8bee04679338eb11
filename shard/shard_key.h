#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ringside::shard {

// One part of a request that chooses the replica.
struct KeyPart {
  enum class Kind { country, ip, path, query, host, header, cookie, id };
  Kind kind = Kind::path;
  std::string name;  // of the header (lower case), the cookie or the placeholder of a route's path
  // Of an id: which of the path's segments it is, counted from 1. With a placeholder 0, until the
  // route's path says where that is.
  std::size_t segment = 0;
  bool operator==(const KeyPart&) const = default;
  [[nodiscard]] std::string text() const;  // as it is written in the configuration
};

// Which parts, in order. Chosen per route.
struct KeySpec {
  std::vector<KeyPart> parts;
  bool operator==(const KeySpec&) const = default;
  [[nodiscard]] bool uses(KeyPart::Kind kind) const noexcept;
  [[nodiscard]] std::string text() const;  // "country,path"

  // `country,path,header:accept-language,id:2,id:{name},…`; an Error names the part that is wrong
  // and what may stand there. No part may stand twice; at least one, at most
  // limits::shard_key_parts.
  [[nodiscard]] static Result<KeySpec> parse(std::string_view text);
  [[nodiscard]] static KeySpec country_and_path();
};

// Appends one part's value to `key` such that different lists of values never give the same bytes:
// '\' and the separator '\n' inside the value are escaped with '\', and each value ends with '\n'.
void append_key_value(std::string& key, std::string_view value);

}  // namespace ringside::shard
