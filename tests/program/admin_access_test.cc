#include "program/admin_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "http1/admin_client.h"
#include "program/cache_service.h"
#include "program/process.h"
#include "tests/support/system_clock.h"

namespace ringside::program {
namespace {

using support::system_clock;
using testing::HasSubstr;

const std::string first_token = "first-token-0123456789";
const std::string second_token = "second-token-0123456789";

class AdminAccessTest : public testing::Test {
 protected:
  AdminAccessTest() {
    std::string name = std::filesystem::temp_directory_path() / "ringside-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~AdminAccessTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(AdminAccessTest, ATokenIsTheOneLineOfItsFile) {
  EXPECT_EQ(*read_admin_token(file("token", first_token)), first_token);
  EXPECT_EQ(*read_admin_token(file("token", first_token + "\r\n")), first_token);
  const std::vector<std::string> wrong{"",
                                       "\n",
                                       "too-short",
                                       first_token + "\n" + second_token,
                                       "a blank in between it",
                                       std::string(limits::admin_token_size_bytes + 1, 'x')};
  for (const std::string& text : wrong) {
    const auto token = read_admin_token(file("token", text));
    ASSERT_FALSE(token) << text;
    EXPECT_EQ(token.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(token.error().message, HasSubstr("token: "));
  }
  EXPECT_THAT(read_admin_token("/nowhere/token").error().message, HasSubstr("/nowhere/token: "));
}

TEST_F(AdminAccessTest, AReloadTakesTheNewToken) {
  const std::string token_file = file("token", first_token);
  const std::string yaml =
      "name: cache-0\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nprobe: 127.0.0.1:0\n"
      "origin: http://127.0.0.1:9\nthreads: 1\nadmin_token_file: " +
      token_file + "\n";
  const Invocation invocation{Command::cache, file("tier.yaml", yaml), {}, false};
  const auto configuration = load(invocation);
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto service = CacheService::start(*configuration, system_clock);
  ASSERT_TRUE(service);
  Process process(invocation, *configuration, **service, system_clock);
  ASSERT_TRUE(process.start_admin());
  const auto purge = [&](const std::string& token) {
    const auto answer =
        http::ask_admin(process.admin(), "POST", "/purge", R"({"all": true})", Seconds(20), token);
    return answer ? answer->status : 0;
  };
  EXPECT_EQ(purge(""), 401);
  EXPECT_EQ(purge(second_token), 401);
  EXPECT_EQ(purge(first_token), 200);

  file("token", "none");
  EXPECT_FALSE(process.reload());
  EXPECT_EQ(purge(first_token), 200);
  file("token", second_token);
  EXPECT_TRUE(process.reload());
  EXPECT_EQ(purge(first_token), 401);
  EXPECT_EQ(purge(second_token), 200);

  const auto probe = [&](const std::string& method, const std::string& path) {
    const auto answer = http::ask_admin(*process.probe(), method, path, "", Seconds(20));
    return answer ? answer->status : 0;
  };
  EXPECT_EQ(probe("GET", "/livez"), 200);
  EXPECT_EQ(probe("GET", "/readyz"), 200);
  EXPECT_EQ(probe("GET", "/config"), 404);
  EXPECT_EQ(probe("POST", "/drain"), 401);
}

}  // namespace
}  // namespace ringside::program
