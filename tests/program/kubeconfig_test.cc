#include "program/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ringside::program {
namespace {

using testing::HasSubstr;

// As kubectl writes it, with what is to be tested in the places of cluster and user.
std::string kubeconfig(const std::string& cluster, const std::string& user,
                       const std::string& context = "namespace: shop") {
  return "apiVersion: v1\nkind: Config\npreferences: {}\ncurrent-context: here\n"
         "clusters:\n- name: far\n  cluster: {server: \"https://far.example\"}\n"
         "- name: near\n  cluster:\n    " +
         cluster +
         "\n"
         "contexts:\n- context:\n    cluster: near\n    user: me\n    " +
         context +
         "\n  name: here\n"
         "users:\n- name: me\n  user:\n    " +
         user + "\n";
}

TEST(Kubeconfig, TellsServerAuthorityTokenAndNamespaceOfTheCurrentContext) {
  const auto read = parse_kubeconfig(
      kubeconfig("server: https://10.0.0.1:6443\n    certificate-authority-data: UEVNIQ==\n"
                 "    tls-server-name: kubernetes",
                 "token: secret"),
      "/home/me/config");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->access.server, (Endpoint{"10.0.0.1", 6443}));
  EXPECT_TRUE(read->access.tls);
  EXPECT_EQ(read->access.ca_pem, "PEM!");
  EXPECT_EQ(read->access.server_name, "kubernetes");
  EXPECT_EQ(read->access.token, "secret");
  EXPECT_FALSE(read->access.insecure);
  EXPECT_EQ(read->name_space, "shop");
  EXPECT_EQ(read->access.origin, "/home/me/config, context here");
}

TEST(Kubeconfig, ReadsServersWithAndWithoutPortAndPath) {
  struct Case {
    std::string url;
    Endpoint server;
    bool tls;
    std::string base_path;
  };
  const std::vector<Case> cases{
      {"https://k.example", {"k.example", 443}, true, ""},
      {"https://k.example/", {"k.example", 443}, true, ""},
      {"https://k.example:6443/k8s/clusters/c-1/", {"k.example", 6443}, true, "/k8s/clusters/c-1"},
      {"http://127.0.0.1:8001", {"127.0.0.1", 8001}, false, ""},
      {"https://[fd00::1]:6443", {"fd00::1", 6443}, true, ""},
  };
  for (const Case& one : cases) {
    const auto read = parse_kubeconfig(kubeconfig("server: \"" + one.url + "\"", "token: t"), "f");
    ASSERT_TRUE(read) << one.url << ": " << read.error().message;
    EXPECT_EQ(read->access.server, one.server) << one.url;
    EXPECT_EQ(read->access.tls, one.tls) << one.url;
    EXPECT_EQ(read->access.base_path, one.base_path) << one.url;
  }
}

TEST(Kubeconfig, FindsItsFilesBesideItself) {
  const std::filesystem::path folder =
      testing::TempDir() + "kubeconfig_test_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "me.crt") << "certificate";
  std::ofstream(folder / "me.key") << "key";
  std::ofstream(folder / "config")
      << kubeconfig("server: https://k:1",
                    "client-certificate: me.crt\n    client-key: me.key\n"
                    "    tokenFile: token",
                    "namespace: \"\"");
  const auto read = read_kubeconfig((folder / "config").string());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->access.client_certificate_pem, "certificate");
  EXPECT_EQ(read->access.client_key_pem, "key");
  EXPECT_EQ(read->access.token_file, (folder / "token").string());
  EXPECT_EQ(read->name_space, "default");
  std::filesystem::remove_all(folder);
}

TEST(Kubeconfig, WhatMakesNoSenseIsRefusedWithItsLine) {
  const std::string server = "server: https://k:1";
  struct Case {
    std::string text;
    std::string says;
  };
  const std::vector<Case> cases{
      {"a: b", "has no current-context"},
      {"current-context: here", "contexts has no context named \"here\""},
      {kubeconfig("server: k:1", "token: t"), "no address of an API server"},
      {kubeconfig("server: ftp://k", "token: t"), "no address of an API server"},
      {kubeconfig("insecure-skip-tls-verify: true", "token: t"), "no address of an API server"},
      {kubeconfig(server + "\n    insecure-skip-tls-verify: 7", "token: t"),
       "insecure-skip-tls-verify"},
      {kubeconfig(server + "\n    certificate-authority-data: \"%%%\"", "token: t"), "no base64"},
      {kubeconfig(server + "\n    certificate-authority: nowhere.pem", "token: t"),
       "name a file that can be read"},
      {kubeconfig(server, "client-certificate-data: QUJD"), "needed together"},
      {kubeconfig(server, "exec: {command: aws}"), "exec is not supported"},
      {kubeconfig(server, "auth-provider: {name: gcp}"), "auth-provider is not supported"},
      {"[", "f:"},
  };
  for (const Case& one : cases) {
    const auto read = parse_kubeconfig(one.text, "f");
    ASSERT_FALSE(read) << one.text;
    EXPECT_THAT(read.error().message, HasSubstr(one.says)) << one.text;
    EXPECT_THAT(read.error().message, HasSubstr("f:")) << one.text;
  }
  EXPECT_THAT(read_kubeconfig("/nowhere/config").error().message,
              HasSubstr("name a kubeconfig file"));
}

}  // namespace
}  // namespace ringside::program
