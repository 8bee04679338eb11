#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/error.h"

struct evp_md_st;  // OpenSSL's EVP_MD

namespace ringside::shard {

// MD5 or SHA-1, for the schemes that others defined with them. Nothing here is for security.
// Immutable; copies share the algorithm. Thread-safe.
class Digest {
 public:
  // An Error where this OpenSSL does not offer the algorithm, as under a FIPS-only configuration.
  [[nodiscard]] static Result<Digest> md5();   // RFC 1321, 16 bytes
  [[nodiscard]] static Result<Digest> sha1();  // RFC 3174, 20 bytes

  // Those of a digest, and zeros behind them.
  using Bytes = std::array<std::uint8_t, 20>;

  [[nodiscard]] Bytes of(std::string_view bytes) const;

 private:
  explicit Digest(std::shared_ptr<evp_md_st> algorithm) : algorithm_(std::move(algorithm)) {}
  [[nodiscard]] static Result<Digest> fetch(const char* algorithm);

  std::shared_ptr<evp_md_st> algorithm_;
};

}  // namespace ringside::shard
