#include "k8s/api_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

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
    verifies = SSL_CTX_get_verify_mode(context.get()) == SSL_VERIFY_PEER;
    oldest = SSL_CTX_get_min_proto_version(context.get());
    return {};
  }

  Certificate own{{""}, nullptr};
  Access access;
  bool has_own = false;
  bool is_own = false;
  bool verifies = false;
  long oldest = 0;
};

TEST_F(ApiTlsTest, ShowsItsOwnCertificate) {
  EXPECT_EQ(failure(), "");
  EXPECT_TRUE(is_own);
  EXPECT_TRUE(verifies);
  EXPECT_EQ(oldest, TLS1_2_VERSION);
  access.client_certificate_pem.clear();
  EXPECT_EQ(failure(), "");
  EXPECT_FALSE(has_own);
  access.insecure = true;
  EXPECT_EQ(failure(), "");
  EXPECT_FALSE(verifies);
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
  access = good;
  access.ca_pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(failure(), HasSubstr("the CA of the test"));
}

TEST_F(ApiTlsTest, TheNameThatIsSentIsNeverAnAddress) {
  EXPECT_EQ(server_name_indication(access), "");
  access.server.host = "api.test";
  EXPECT_EQ(server_name_indication(access), "api.test");
  access.server_name = "kubernetes";
  EXPECT_EQ(server_name_indication(access), "kubernetes");
  access.server_name = "fd00::1";
  EXPECT_EQ(server_name_indication(access), "");
}

}  // namespace
}  // namespace ringside::k8s
