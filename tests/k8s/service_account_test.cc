#include "k8s/service_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/limits.h"

namespace ringside::k8s {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ServiceAccountTest : public testing::Test {
 protected:
  ServiceAccountTest() {
    std::string pattern = testing::TempDir() + "ringside-account-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    write("token", "secret-token\n");
    write("ca.crt", "-----BEGIN CERTIFICATE-----\n");
    write("namespace", "shop\n");
  }
  ~ServiceAccountTest() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
  }
  [[nodiscard]] Result<Access> access() const {
    return service_account_access(
        [this](const char* name) {
          const auto found = environment.find(name);
          return found == environment.end() ? std::string() : found->second;
        },
        folder);
  }

  std::string folder;
  std::map<std::string, std::string> environment{{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                                                 {"KUBERNETES_SERVICE_PORT", "443"}};
};

TEST_F(ServiceAccountTest, IsWhereTheKubeletPutsIt) {
  const auto made = access();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->server.text(), "10.96.0.1:443");
  EXPECT_TRUE(made->tls);
  EXPECT_FALSE(made->insecure);
  EXPECT_EQ(made->token_file, folder + "/token");
  EXPECT_EQ(made->ca_file, folder + "/ca.crt");
  EXPECT_EQ(made->token, "");  // it rotates: it is read with each request
  const auto name_space = service_account_namespace(folder);
  ASSERT_TRUE(name_space);
  EXPECT_EQ(*name_space, "shop");
}

TEST_F(ServiceAccountTest, TheServerMayBeAnIPv6AddressOrAName) {
  for (const auto& [host, text] : std::map<std::string, std::string>{
           {"fd00::1", "[fd00::1]:443"},
           {"[fd00::1]", "[fd00::1]:443"},
           {"kubernetes.default.svc", "kubernetes.default.svc:443"}}) {
    environment["KUBERNETES_SERVICE_HOST"] = host;
    const auto made = access();
    ASSERT_TRUE(made) << host;
    EXPECT_EQ(made->server.text(), text);
  }
}

TEST_F(ServiceAccountTest, OutsideOfAClusterItSaysWhatToDo) {
  const auto says = [this](const std::string& what) {
    const auto made = access();
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, AllOf(HasSubstr(what), HasSubstr("--kubeconfig")));
    EXPECT_THAT(made.error().message, testing::Not(HasSubstr("secret-token")));
  };
  for (const std::string name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
    const auto kept = environment;
    environment.erase(name);
    says(name);
    environment = kept;
  }
  environment["KUBERNETES_SERVICE_PORT"] = "70000";
  says("70000");
  environment["KUBERNETES_SERVICE_PORT"] = "443";
  for (const std::string name : {"ca.crt", "token"}) {
    std::filesystem::remove(folder + "/" + name);
    says(folder + "/" + name);
  }
  std::filesystem::remove(folder + "/namespace");
  EXPECT_FALSE(service_account_namespace(folder));
}

TEST_F(ServiceAccountTest, FilesThatHoldNothingOrTooMuchAreRefused) {
  EXPECT_EQ(*read_credential(folder + "/token", "the token"), "secret-token\n");
  write("token", " \n");
  EXPECT_THAT(read_credential(folder + "/token", "the token").error().message,
              HasSubstr("is empty"));
  write("token", std::string(limits::service_account_size_bytes, 'x'));
  EXPECT_TRUE(read_credential(folder + "/token", "the token"));
  write("token", std::string(limits::service_account_size_bytes + 1, 'x'));
  EXPECT_THAT(read_credential(folder + "/token", "the token").error().message,
              HasSubstr(std::to_string(limits::service_account_size_bytes)));
  EXPECT_FALSE(read_credential(folder, "the token"));  // a folder
}

}  // namespace
}  // namespace ringside::k8s
