#include "tests/support/tls_server.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <csignal>

#include "base/check.h"

namespace ringside::support {
namespace {

void add_extension(X509* certificate, X509* issuer, int which, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, which, value.c_str());
  RINGSIDE_CHECK(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Certificate::Certificate(const Terms& terms, const Certificate* issuer)
    : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
  RINGSIDE_CHECK(key_ != nullptr && certificate_ != nullptr);
  static std::atomic<long> serial{1};
  X509* const signing = issuer == nullptr ? certificate_ : issuer->certificate_;
  const long number = serial.fetch_add(1);
  X509_set_version(certificate_, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate_), number);
  X509_gmtime_adj(X509_getm_notBefore(certificate_), terms.valid_from_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate_), terms.valid_until_s);
  X509_set_pubkey(certificate_, key_);
  const std::string name = "Ringside test " + std::to_string(number);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate_), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate_, X509_get_subject_name(signing));
  add_extension(certificate_, signing, NID_basic_constraints,
                terms.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!terms.names.empty()) {
    add_extension(certificate_, signing, NID_subject_alt_name, terms.names);
  }
  RINGSIDE_CHECK(X509_sign(certificate_, issuer == nullptr ? key_ : issuer->key_, EVP_sha256()) >
                 0);
}

Certificate::~Certificate() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

std::string Certificate::pem() const {
  BIO* const out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(out, certificate_);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out, &bytes);
  std::string text(bytes, static_cast<std::size_t>(size));
  BIO_free(out);
  return text;
}

std::string TlsStage::name() const {
  const char* const name = SSL_get_servername(session_, TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? std::string{} : name;
}

void TlsStage::receive_more() {
  std::string piece(65'536, '\0');
  const int received = SSL_read(session_, piece.data(), static_cast<int>(piece.size()));
  ERR_clear_error();
  if (received <= 0) throw Over{};
  received_.append(piece, 0, static_cast<std::size_t>(received));
}

std::string TlsStage::read(std::size_t bytes) {
  while (received_.size() < bytes) receive_more();
  const std::string taken = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return taken;
}

std::string TlsStage::read_head() {
  std::size_t end = received_.find("\r\n\r\n");
  while (end == std::string::npos) {
    receive_more();
    end = received_.find("\r\n\r\n");
  }
  return read(end + 4);
}

std::string TlsStage::read_to_end() {
  try {
    while (true) receive_more();
  } catch (const Over&) {  // as it should be
  }
  return received_;
}

void TlsStage::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const int sent = SSL_write(session_, bytes.data(), static_cast<int>(bytes.size()));
    ERR_clear_error();
    if (sent <= 0) throw Over{};
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void TlsStage::close() {
  SSL_shutdown(session_);
  throw Over{};
}

void TlsStage::break_off() { throw Over{}; }

TlsServer::TlsServer(const Certificate& certificate, Script script)
    : TlsServer(certificate, std::move(script), Terms()) {}

TlsServer::TlsServer(const Certificate& certificate, Script script, const Terms& terms)
    : script_(std::move(script)), terms_(terms), context_(SSL_CTX_new(TLS_server_method())) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  RINGSIDE_CHECK(SSL_CTX_use_certificate(context_, certificate.certificate()) == 1);
  RINGSIDE_CHECK(SSL_CTX_use_PrivateKey(context_, certificate.key()) == 1);
  if (terms_.newest_version != 0) {
    SSL_CTX_set_security_level(context_, 0);
    SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_, terms_.newest_version);
  }
  acceptor_ = std::thread([this] { accept_all(); });
}

TlsServer::~TlsServer() {
  stop_.open();
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const Descriptor& each : open_) ::shutdown(each.get(), SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  SSL_CTX_free(context_);
}

void TlsServer::accept_all() {
  while (auto socket = listener_.accept(&stop_)) {
    connections_.fetch_add(1);
    const int descriptor = socket->release();
    if (terms_.reads_little) {
      const int bytes = 65'536;
      ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
    const std::lock_guard lock(mutex_);
    open_.emplace_back(descriptor);
    threads_.emplace_back([this, descriptor] { play(descriptor); });
  }
}

void TlsServer::play(int descriptor) {
  ssl_st* const session = SSL_new(context_);
  SSL_set_fd(session, descriptor);
  if (SSL_accept(session) == 1) {
    handshakes_.fetch_add(1);
    TlsStage stage(session);
    try {
      script_(stage);
    } catch (const TlsStage::Over&) {  // It was cut short; the test sees it from the other side.
    }
  }
  ERR_clear_error();
  SSL_free(session);
  const std::lock_guard lock(mutex_);
  open_.remove_if([descriptor](const Descriptor& each) { return each.get() == descriptor; });
}

TlsServer::Script always_under_tls(std::string answer) {
  return [answer = std::move(answer)](TlsStage& stage) {
    while (true) {
      stage.read_head();
      stage.send(answer);
    }
  };
}

}  // namespace ringside::support
