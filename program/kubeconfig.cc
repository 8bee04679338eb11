#include "program/kubeconfig.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "base/file.h"
#include "base/limits.h"
#include "program/values.h"
#include "program/yaml_document.h"
#include "program/yaml_file.h"
#include "shard/quotation.h"

namespace ringside::program {
namespace {

using shard::quotation;

// RFC 4648 §4; kubectl writes it in one line.
Result<std::string> decode_base64(std::string_view text) {
  constexpr std::size_t group_size_bytes = 4;
  std::string out(text.size() / group_size_bytes * 3, '\0');
  const int size = text.empty() || text.size() % group_size_bytes != 0
                       ? -1
                       : EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                         reinterpret_cast<const unsigned char*>(text.data()),
                                         static_cast<int>(text.size()));
  if (size < 0) return invalid_input("is no base64; take it as kubectl writes it");
  const auto padding = text.ends_with("==") ? 2U : text.ends_with('=') ? 1U : 0U;
  out.resize(static_cast<std::size_t>(size) - padding);
  return out;
}

// Reads the parts of a kubeconfig that its current context names.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path), path_(path) {}

  Result<Kubeconfig> read(const YamlValue& root);

 private:
  // The value of a key of a map; nullptr where it has none, or where it is no map.
  static const YamlValue* find(const YamlValue* map, std::string_view key);
  static std::string text(const YamlValue* map, std::string_view key);
  // `clusters: [{name: N, cluster: {…}}]` → the inner map.
  Result<const YamlValue*> named(const YamlValue& root, std::string_view list,
                                 std::string_view item, std::string_view name) const;
  Result<void> set_server(const YamlValue& cluster);
  Result<void> set_authority(const YamlValue& cluster);
  Result<void> set_user(const YamlValue& user);
  // `KEY-data` in base64, else the content of the file that `KEY` names; empty where neither is.
  Result<std::string> pem(const YamlValue& map, std::string_view key) const;
  [[nodiscard]] std::string file_at(const std::string& name) const;

  const YamlFile file_;
  const std::filesystem::path path_;
  Kubeconfig out_;
};

const YamlValue* Reader::find(const YamlValue* map, std::string_view key) {
  if (map == nullptr || map->kind != YamlValue::Kind::map) return nullptr;
  const auto found = std::find_if(map->entries.begin(), map->entries.end(),
                                  [&](const auto& entry) { return entry.key == key; });
  return found == map->entries.end() ? nullptr : &found->value;
}

std::string Reader::text(const YamlValue* map, std::string_view key) {
  const YamlValue* const value = find(map, key);
  return value == nullptr || value->kind != YamlValue::Kind::scalar ? "" : value->text;
}

Result<const YamlValue*> Reader::named(const YamlValue& root, std::string_view list,
                                       std::string_view item, std::string_view name) const {
  const YamlValue* const all = find(&root, list);
  if (all != nullptr) {
    for (const YamlValue& one : all->items) {
      const YamlValue* const inner = find(&one, item);
      if (text(&one, "name") == name && inner != nullptr) return inner;
    }
  }
  return file_.wrong(all == nullptr ? root.line : all->line,
                     fmt::format("{} has no {} named {}; add it, or choose another context with "
                                 "`kubectl config use-context`",
                                 list, item, quotation(name)));
}

std::string Reader::file_at(const std::string& name) const {
  return (path_.parent_path() / name).string();
}

Result<std::string> Reader::pem(const YamlValue& map, std::string_view key) const {
  const std::string data_key = std::string(key) + "-data";
  if (const std::string data = text(&map, data_key); !data.empty()) {
    auto decoded = decode_base64(data);
    if (!decoded) {
      return file_.wrong(map.line, fmt::format("{} {}", data_key, decoded.error().message));
    }
    return decoded;
  }
  const std::string name = text(&map, key);
  if (name.empty()) return std::string();
  auto content = read_file(file_at(name), limits::kubeconfig_size_bytes);
  if (!content) {
    return file_.wrong(map.line, fmt::format("{}: {}; name a file that can be read", key,
                                             content.error().message));
  }
  return content;
}

Result<void> Reader::set_server(const YamlValue& cluster) {
  const std::string url = text(&cluster, "server");
  constexpr std::string_view between = "://";
  const auto authority = url.find(between);
  const auto path =
      authority == std::string::npos ? authority : url.find('/', authority + between.size());
  const auto server = parse_origins(url.substr(0, path));
  if (authority == std::string::npos || !server || server->size() != 1) {
    return file_.wrong(cluster.line, fmt::format("server {} is no address of an API server; write "
                                                 "https://HOST[:PORT]",
                                                 quotation(url)));
  }
  out_.access.server = server->front().address.endpoint;
  out_.access.tls = server->front().address.tls;
  if (path != std::string::npos) out_.access.base_path = url.substr(path);
  while (out_.access.base_path.ends_with('/')) out_.access.base_path.pop_back();
  return {};
}

Result<void> Reader::set_authority(const YamlValue& cluster) {
  auto authority = pem(cluster, "certificate-authority");
  if (!authority) return authority.error();
  out_.access.ca_pem = *std::move(authority);
  out_.access.server_name = text(&cluster, "tls-server-name");
  const std::string insecure = text(&cluster, "insecure-skip-tls-verify");
  if (insecure.empty()) return {};
  const auto is_insecure = parse_switch(insecure);
  if (!is_insecure) {
    return file_.wrong(cluster.line, "insecure-skip-tls-verify: " + is_insecure.error().message);
  }
  out_.access.insecure = *is_insecure;
  return {};
}

Result<void> Reader::set_user(const YamlValue& user) {
  for (const char* const key : {"exec", "auth-provider"}) {
    if (find(&user, key) == nullptr) continue;
    return file_.wrong(user.line,
                       fmt::format("{} is not supported; use a token, such as that of `kubectl "
                                   "create token SERVICEACCOUNT`, or a client certificate",
                                   key));
  }
  k8s::Access& access = out_.access;
  access.token = text(&user, "token");
  if (const std::string name = text(&user, "tokenFile"); !name.empty()) {
    access.token_file = file_at(name);
  }
  auto certificate = pem(user, "client-certificate");
  if (!certificate) return certificate.error();
  auto key = pem(user, "client-key");
  if (!key) return key.error();
  if (certificate->empty() != key->empty()) {
    return file_.wrong(user.line,
                       "a client certificate and its key are needed together; give both");
  }
  access.client_certificate_pem = *std::move(certificate);
  access.client_key_pem = *std::move(key);
  return {};
}

Result<Kubeconfig> Reader::read(const YamlValue& root) {
  const std::string context_name = text(&root, "current-context");
  if (context_name.empty()) {
    return file_.wrong(root.line,
                       "has no current-context; choose one with `kubectl config use-context`");
  }
  const auto context = named(root, "contexts", "context", context_name);
  if (!context) return context.error();
  const auto cluster = named(root, "clusters", "cluster", text(*context, "cluster"));
  if (!cluster) return cluster.error();
  if (auto set = set_server(**cluster); !set) return set.error();
  if (auto set = set_authority(**cluster); !set) return set.error();
  const auto user = named(root, "users", "user", text(*context, "user"));
  if (!user) return user.error();
  if (auto set = set_user(**user); !set) return set.error();
  out_.name_space = text(*context, "namespace");
  if (out_.name_space.empty()) out_.name_space = "default";
  out_.access.origin = fmt::format("{}, context {}", path_.string(), context_name);
  return std::move(out_);
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path) {
  const auto document = parse_yaml(text, path);
  if (!document) return document.error();
  return Reader(path).read(*document);
}

Result<Kubeconfig> read_kubeconfig(const std::string& path) {
  const auto text = read_file(path, limits::kubeconfig_size_bytes);
  if (!text) {
    return invalid_input(text.error().message + "; name a kubeconfig file that can be read");
  }
  return parse_kubeconfig(*text, path);
}

}  // namespace ringside::program
