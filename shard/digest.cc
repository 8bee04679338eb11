#include "shard/digest.h"

#include <nettle/md5.h>
#include <nettle/sha1.h>

// Nettle's, since a look-up waits for it: through OpenSSL's EVP a short key costs half as much
// again with MD5, and twice as much with SHA-1.
namespace ringside::shard {
namespace {

template <std::size_t size, class Context>
std::array<std::uint8_t, size> digest_of(std::string_view bytes, void (*init)(Context*),
                                         void (*update)(Context*, std::size_t, const std::uint8_t*),
                                         void (*end)(Context*, std::size_t,
                                                     std::uint8_t*)) noexcept {
  std::array<std::uint8_t, size> digest;
  Context context;
  init(&context);
  update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  end(&context, digest.size(), digest.data());
  return digest;
}

}  // namespace

std::array<std::uint8_t, 16> md5_of(std::string_view bytes) noexcept {
  return digest_of<16>(bytes, md5_init, md5_update, md5_digest);
}

std::array<std::uint8_t, 20> sha1_of(std::string_view bytes) noexcept {
  return digest_of<20>(bytes, sha1_init, sha1_update, sha1_digest);
}

}  // namespace ringside::shard
