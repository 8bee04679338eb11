#include "k8s/api_tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "k8s/service_account.h"

namespace ringside::k8s {
namespace {

struct FreeBio {
  void operator()(BIO* bio) const noexcept { BIO_free_all(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

constexpr std::size_t shown_names_size_bytes = 256;  // of a certificate, in a message

Failure senseless(std::string message) { return {FailureReason::other, std::move(message), {}}; }

std::string all_of(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

std::string text_of(X509_NAME* name) {
  const Bio out(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
  return all_of(out.get());
}

// `DNS:kubernetes.default.svc, IP Address:10.96.0.1`
std::string names_of(X509* certificate) {
  const int at = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1);
  if (at < 0) return "no name";
  const Bio out(BIO_new(BIO_s_mem()));
  X509V3_EXT_print(out.get(), X509_get_ext(certificate, at), 0, 0);
  std::string names = all_of(out.get());
  if (names.size() > shown_names_size_bytes) {
    names.resize(shown_names_size_bytes);
    names += "…";
  }
  return names;
}

std::string words_of(int error, X509* certificate, const CertificateDoubt& doubt) {
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return fmt::format("its certificate is for {}, not for {}", names_of(certificate),
                         doubt.expected);
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return fmt::format("{}; compare the clocks", X509_verify_cert_error_string(error));
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return fmt::format("its certificate is signed by {}, whom {} does not vouch for",
                         text_of(X509_get_issuer_name(certificate)), doubt.believed);
    default:
      return fmt::format("its certificate ({}): {}", text_of(X509_get_subject_name(certificate)),
                         X509_verify_cert_error_string(error));
  }
}

// OpenSSL asks it about each certificate of the chain; the first thing that is wrong is told.
int judge(int believed, X509_STORE_CTX* store) {
  const auto* const session = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& doubt = *static_cast<CertificateDoubt*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)));
  X509* const certificate = X509_STORE_CTX_get_current_cert(store);
  if (believed == 0 && doubt.message.empty() && certificate != nullptr) {
    doubt.message = words_of(X509_STORE_CTX_get_error(store), certificate, doubt);
  }
  return believed;
}

// No file, no terminal: a key with a password is refused.
int no_password(char* /*buffer*/, int /*size*/, int /*for_writing*/, void* /*unused*/) { return 0; }

Outcome<void> set_own_certificate(SSL_CTX* context, const Access& access) {
  if (access.client_certificate_pem.empty()) return {};
  const auto certificates = MemoryFile::of(access.client_certificate_pem);
  if (!certificates) return certificates.error();
  const auto key = MemoryFile::of(access.client_key_pem);
  if (!key) return key.error();
  SSL_CTX_set_default_passwd_cb(context, no_password);
  if (SSL_CTX_use_certificate_chain_file(context, certificates->path().c_str()) != 1) {
    return senseless(fmt::format("the client certificate of {} is none in PEM format: {}",
                                 access.origin, first_tls_error()));
  }
  if (SSL_CTX_use_PrivateKey_file(context, key->path().c_str(), SSL_FILETYPE_PEM) != 1) {
    return senseless(fmt::format(
        "the client key of {} is none in PEM format without a password, or another certificate's: "
        "{}",
        access.origin, first_tls_error()));
  }
  return {};
}

void expect_name(SSL_CTX* context, const std::string& name) {
  X509_VERIFY_PARAM* const terms = SSL_CTX_get0_param(context);
  if (X509_VERIFY_PARAM_set1_ip_asc(terms, name.c_str()) == 1) return;
  X509_VERIFY_PARAM_set_hostflags(
      terms, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  RINGSIDE_CHECK(X509_VERIFY_PARAM_set1_host(terms, name.data(), name.size()) == 1);
}

// httplib sends its host as the server's name, be it an address, which is no name (RFC 6066 §3).
// OpenSSL calls this before it writes its first message.
void send_no_name(const SSL* session, int where, int /*returned*/) {
  if ((where & SSL_CB_HANDSHAKE_START) != 0) {
    SSL_set_tlsext_host_name(const_cast<SSL*>(session), nullptr);
  }
}

}  // namespace

std::string first_tls_error() {
  const unsigned long code = ERR_peek_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "the connection ended" : reason;
}

const std::string& expected_name(const Access& access) {
  return access.server_name.empty() ? access.server.host : access.server_name;
}

Outcome<void> prepare_tls(ssl_ctx_st* context, const Access& access, CertificateDoubt& doubt) {
  ERR_clear_error();
  RINGSIDE_CHECK(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1);
  if (auto own = set_own_certificate(context, access); !own) return own;
  doubt.expected = expected_name(access);
  if (IpAddress::try_parse(doubt.expected)) SSL_CTX_set_info_callback(context, send_no_name);
  if (access.insecure) return {};
  doubt.believed = !access.ca_file.empty()  ? access.ca_file
                   : !access.ca_pem.empty() ? fmt::format("the CA of {}", access.origin)
                                            : "the system's store";
  expect_name(context, doubt.expected);
  SSL_CTX_set_app_data(context, &doubt);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, judge);
  ERR_clear_error();
  return {};
}

Outcome<MemoryFile> MemoryFile::of(std::string_view bytes) {
  MemoryFile file;
  file.memory_ = Descriptor(::memfd_create("ringside-pem", MFD_CLOEXEC));
  const ssize_t written = ::write(file.memory_.get(), bytes.data(), bytes.size());
  if (written >= 0 && static_cast<std::size_t>(written) == bytes.size()) return file;
  return senseless(
      fmt::format("no memory for a certificate: {}", std::generic_category().message(errno)));
}

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", memory_.get()); }

Outcome<std::optional<MemoryFile>> authorities_of(const Access& access) {
  std::string pem = access.ca_pem;
  if (!access.ca_file.empty()) {
    auto read = read_credential(access.ca_file, "the CA's certificates");
    if (!read) return senseless(read.error().message);
    pem = std::move(*read);
  }
  if (pem.empty()) return std::optional<MemoryFile>();
  auto file = MemoryFile::of(pem);
  if (!file) return file.error();
  return std::optional(std::move(*file));
}

}  // namespace ringside::k8s
