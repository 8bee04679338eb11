#include "k8s/service_account.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/limits.h"
#include "base/quotation.h"

namespace ringside::k8s {
namespace {

constexpr std::string_view remedy =
    "run it in a pod with a service account (automountServiceAccountToken), or give --kubeconfig";

Error not_in_cluster(std::string_view why) {
  return invalid_input(fmt::format("this is no pod of a Kubernetes cluster: {}; {}", why, remedy));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto from = text.find_first_not_of(blanks);
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(blanks) + 1 - from);
}

Result<Endpoint> server_of(const Environment& environment) {
  const std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return not_in_cluster("KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set");
  }
  const bool is_bare_v6 = host.find(':') != host.npos && !host.starts_with('[');
  auto server = Endpoint::parse((is_bare_v6 ? "[" + host + "]" : host) + ":" + port);
  if (!server) {
    return not_in_cluster(
        fmt::format("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are {} "
                    "and {}, which is no address",
                    quotation(host), quotation(port)));
  }
  return server;
}

}  // namespace

Result<std::string> read_credential(const std::string& path, std::string_view what) {
  auto bytes = read_file(path, limits::service_account_size_bytes);
  if (!bytes) {
    return invalid_input(
        fmt::format("cannot read {}: {}; is it the right file?", what, bytes.error().message));
  }
  if (trimmed(*bytes).empty()) {
    return invalid_input(fmt::format("{} is empty; it should hold {}", path, what));
  }
  return bytes;
}

Result<Access> service_account_access(const Environment& environment, const std::string& folder) {
  auto server = server_of(environment);
  if (!server) return server.error();
  Access access;
  access.server = std::move(*server);
  access.token_file = folder + "/token";
  access.ca_file = folder + "/ca.crt";
  access.origin = "the service account";
  if (const auto token = read_credential(access.token_file, "the service account's token");
      !token) {
    return not_in_cluster(token.error().message);
  }
  if (const auto ca = read_credential(access.ca_file, "the cluster's CA"); !ca) {
    return not_in_cluster(ca.error().message);
  }
  return access;
}

Result<std::string> service_account_namespace(const std::string& folder) {
  const auto read = read_credential(folder + "/namespace", "the pod's namespace");
  if (!read) return not_in_cluster(read.error().message);
  return std::string(trimmed(*read));
}

}  // namespace ringside::k8s
