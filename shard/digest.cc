#include "shard/digest.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/check.h"

namespace ringside::shard {

Result<Digest> Digest::md5() { return fetch("MD5"); }
Result<Digest> Digest::sha1() { return fetch("SHA1"); }

Result<Digest> Digest::fetch(const char* algorithm) {
  std::shared_ptr<EVP_MD> found(EVP_MD_fetch(nullptr, algorithm, nullptr), EVP_MD_free);
  if (!found) {
    ERR_clear_error();
    return Error{
        ErrorKind::unsupported, ErrorSource::ourselves, Retry::no,
        fmt::format("this OpenSSL does not offer {}; choose the scheme \"ring\"", algorithm)};
  }
  return Digest(std::move(found));
}

Digest::Bytes Digest::of(std::string_view bytes) const {
  Bytes digest{};
  RINGSIDE_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm_.get(),
                            nullptr) == 1);
  return digest;
}

}  // namespace ringside::shard
