#include "k8s/api_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

#include "base/file.h"
#include "tests/support/tls_server.h"

namespace ringside::k8s {
namespace {

using support::Certificate;
using testing::HasSubstr;

std::string key_pem(const Certificate& of, const char* password = nullptr) {
  BIO* const out = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(out, of.key(), password == nullptr ? nullptr : EVP_aes_128_cbc(),
                           nullptr, 0, nullptr, const_cast<char*>(password));
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out, &bytes);
  std::string text(bytes, static_cast<std::size_t>(size));
  BIO_free(out);
  return text;
}

class ApiTlsTest : public testing::Test {
 protected:
  ApiTlsTest() {
    access.server = {"10.96.0.1", 443};
    access.origin = "the test";
    access.ca_pem = own.pem();
    access.client_certificate_pem = own.pem();
    access.client_key_pem = key_pem(own);
  }
  std::string failure() {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
        SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    CertificateDoubt doubt;
    const auto prepared = prepare_tls(context.get(), access, doubt);
    if (!prepared) return prepared.error().message;
    has_own = SSL_CTX_get0_certificate(context.get()) != nullptr;
    is_own = has_own && X509_cmp(SSL_CTX_get0_certificate(context.get()), own.certificate()) == 0 &&
             SSL_CTX_check_private_key(context.get()) == 1;
    oldest = SSL_CTX_get_min_proto_version(context.get());
    return {};
  }

  Certificate own{{""}, nullptr};
  Access access;
  bool has_own = false;
  bool is_own = false;
  long oldest = 0;
};

TEST_F(ApiTlsTest, ShowsItsOwnCertificate) {
  EXPECT_EQ(failure(), "");
  EXPECT_TRUE(is_own);
  EXPECT_EQ(oldest, TLS1_2_VERSION);
  access.client_certificate_pem.clear();
  EXPECT_EQ(failure(), "");
  EXPECT_FALSE(has_own);
}

TEST_F(ApiTlsTest, SaysWhichPartMakesNoSense) {
  const Access good = access;
  access.client_certificate_pem = "no";
  EXPECT_THAT(failure(), HasSubstr("client certificate of the test"));
  access = good;
  access.client_key_pem = key_pem(Certificate({""}, nullptr));
  EXPECT_THAT(failure(), HasSubstr("client key of the test"));
  access.client_key_pem = "";
  EXPECT_THAT(failure(), HasSubstr("client key of the test"));
  access.client_key_pem = key_pem(own, "secret");  // and asks no terminal
  EXPECT_THAT(failure(), HasSubstr("client key of the test"));
}

TEST_F(ApiTlsTest, TheCertificateIsForTheServersNameOrForTheOneThatIsTold) {
  EXPECT_EQ(expected_name(access), "10.96.0.1");
  access.server_name = "kubernetes";
  EXPECT_EQ(expected_name(access), "kubernetes");
}

TEST_F(ApiTlsTest, TheAuthoritiesAreAFileInMemory) {
  const auto file = authorities_of(access);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(read_file((*file)->path(), 1'000'000).value(), own.pem());
  access.ca_pem = "";
  EXPECT_FALSE(authorities_of(access).value());
}

}  // namespace
}  // namespace ringside::k8s
