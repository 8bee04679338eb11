#include "shard/digest.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/check.h"

namespace ringside::shard {

namespace {

// Made once for each thread: a new one for each digest costs a fifth of it, and an allocation.
EVP_MD_CTX* context() {
  struct Free {
    void operator()(EVP_MD_CTX* own) const noexcept { EVP_MD_CTX_free(own); }
  };
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> own(EVP_MD_CTX_new());
  RINGSIDE_CHECK(own != nullptr);
  return own.get();
}

}  // namespace

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
  EVP_MD_CTX* const own = context();
  RINGSIDE_CHECK(EVP_DigestInit_ex2(own, algorithm_.get(), nullptr) == 1 &&
                 EVP_DigestUpdate(own, bytes.data(), bytes.size()) == 1 &&
                 EVP_DigestFinal_ex(own, digest.data(), nullptr) == 1);
  return digest;
}

}  // namespace ringside::shard
