#pragma once

#include <string>

#include "base/address.h"

namespace ringside::k8s {

// Where an API server is and how it knows us. Secrets: never logged, never shown.
struct Access {
  Endpoint server;
  bool tls = true;
  std::string base_path;    // before every path, of a server behind a prefix; empty or `/…`
  std::string server_name;  // that the certificate must be for; empty: server.host
  std::string ca_pem;       // whom it must be signed by; empty: what the system believes
  std::string ca_file;      // the same, read again with each connection; wins over ca_pem
  bool insecure = false;    // the certificate is not verified
  std::string token;
  std::string token_file;  // read again with each request, for it rotates; wins over `token`
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::string origin;  // for messages: "the service account", "kubeconfig FILE, context NAME"
};

}  // namespace ringside::k8s
