#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ringside::shard {

// One part of a request that chooses the replica.
struct KeyPart {
  enum class Kind { country, ip, path, query, host, header, cookie };
  Kind kind = Kind::path;
  std::string name;  // of the header (lower case) or cookie
  bool operator==(const KeyPart&) const = default;
  [[nodiscard]] std::string text() const;  // as it is written in the configuration
};

// Which parts, in order. Chosen per route.
struct KeySpec {
  std::vector<KeyPart> parts;
  bool operator==(const KeySpec&) const = default;
  [[nodiscard]] bool uses(KeyPart::Kind kind) const noexcept;
  [[nodiscard]] std::string text() const;  // "country,path"

  // `country,path,header:accept-language,…`; an Error names the part that is wrong and what may
  // stand there. No part may stand twice; at least one, at most limits::shard_key_parts.
  [[nodiscard]] static Result<KeySpec> parse(std::string_view text);
  [[nodiscard]] static KeySpec country_and_path();
};

// Appends one part's value to `key` such that different lists of values never give the same bytes:
// '\' and the separator '\n' inside the value are escaped with '\', and each value ends with '\n'.
void append_key_value(std::string& key, std::string_view value);

}  // namespace ringside::shard
