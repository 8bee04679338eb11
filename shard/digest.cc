#include "shard/digest.h"

#include <nettle/md5.h>
#include <nettle/sha1.h>

// Nettle's, since a look-up waits for it: through OpenSSL's EVP a short key costs half as much
// again with MD5, and twice as much with SHA-1.
namespace ringside::shard {
namespace {

const std::uint8_t* octets(std::string_view bytes) noexcept {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace

std::array<std::uint8_t, 16> md5_of(std::string_view bytes) noexcept {
  std::array<std::uint8_t, 16> digest;
  md5_ctx context;
  md5_init(&context);
  md5_update(&context, bytes.size(), octets(bytes));
  md5_digest(&context, digest.size(), digest.data());
  return digest;
}

std::array<std::uint8_t, 20> sha1_of(std::string_view bytes) noexcept {
  std::array<std::uint8_t, 20> digest;
  sha1_ctx context;
  sha1_init(&context);
  sha1_update(&context, bytes.size(), octets(bytes));
  sha1_digest(&context, digest.size(), digest.data());
  return digest;
}

}  // namespace ringside::shard
