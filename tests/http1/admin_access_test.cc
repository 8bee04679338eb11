#include "http1/admin_access.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/http1/some_admin_server.h"

namespace ringside::http {
namespace {

const std::string secret = "0123456789abcdef";

int status_of(const AdminAccess& access, RequestHead request, std::string_view from) {
  const auto refusal = refuse_access(access, request, *IpAddress::parse(from));
  return refusal ? refusal->status : 200;
}

// A page whose name was made to lead here reads and changes nothing: its own name is in Host.
TEST(AdminAccess, ANameThatIsNotOursIsRefused) {
  const AdminAccess access{"", {"cache-0.cache.shop.svc", "*.shop.svc.cluster.local"}};
  struct Case {
    std::string host;
    bool is_ours;
  };
  for (const auto& c : std::vector<Case>{{"127.0.0.1", true},
                                         {"10.2.3.4:9090", true},
                                         {"[fd00::1]:9090", true},
                                         {"localhost", true},
                                         {"LocalHost.:9090", true},
                                         {"cache-0.cache.shop.svc:9090", true},
                                         {"CACHE-0.cache.SHOP.svc", true},
                                         {"cache-7.cache.shop.svc.cluster.local", true},
                                         {"evil.example", false},
                                         {"localhost.evil.example", false},
                                         {"evil-localhost", false},
                                         {"10.2.3.4.evil.example", false},
                                         {"0x7f000001", false},
                                         {"shop.svc.cluster.local", false},
                                         {"evilshop.svc.cluster.local", false},
                                         {"cache-1.cache.shop.svc", false}}) {
    SCOPED_TRACE(c.host);
    for (const std::string_view method : {"GET", "HEAD", "POST"}) {
      RequestHead request;
      request.method = method;
      request.host = c.host;
      EXPECT_EQ(status_of(access, request, "127.0.0.1"), c.is_ours ? 200 : 421);
    }
  }
}

TEST(AdminAccess, ChangesNeedTheTokenOrLoopback) {
  struct Case {
    bool has_token;
    std::string_view method;
    std::string authorization;
    std::string_view from;
    int status;
  };
  const std::string right = "Bearer " + secret;
  for (const auto& c : std::vector<Case>{{false, "POST", "", "127.0.0.1", 200},
                                         {false, "POST", "", "127.1.2.3", 200},
                                         {false, "PUT", "", "::1", 200},
                                         {false, "PUT", "", "::ffff:127.0.0.1", 200},
                                         {false, "GET", "", "10.0.0.1", 200},
                                         {false, "POST", "", "10.0.0.1", 403},
                                         {false, "PUT", right, "10.0.0.1", 403},
                                         {false, "DELETE", "", "fd00::1", 403},
                                         {true, "GET", "", "10.0.0.1", 200},
                                         {true, "HEAD", "", "10.0.0.1", 200},
                                         {true, "POST", right, "10.0.0.1", 200},
                                         {true, "POST", "bearer   " + secret, "10.0.0.1", 200},
                                         {true, "POST", right, "127.0.0.1", 200},
                                         {true, "POST", "", "127.0.0.1", 401},
                                         {true, "POST", secret, "127.0.0.1", 401},
                                         {true, "POST", "Basic " + secret, "127.0.0.1", 401},
                                         {true, "POST", "Bearer ", "127.0.0.1", 401},
                                         {true, "POST", "Bearer", "127.0.0.1", 401},
                                         {true, "POST", right + "f", "127.0.0.1", 401},
                                         {true, "POST", right + secret, "127.0.0.1", 401},
                                         {true, "PUT", right.substr(0, 12), "127.0.0.1", 401}}) {
    SCOPED_TRACE(std::string(c.method) + " " + c.authorization + " from " + std::string(c.from));
    RequestHead request;
    request.method = c.method;
    request.host = "10.0.0.9:9090";
    if (!c.authorization.empty()) request.fields.add("Authorization", c.authorization);
    EXPECT_EQ(status_of({c.has_token ? secret : "", {}}, request, c.from), c.status);
  }
}

using AdminAccessTest = AdminServerTest;

TEST_F(AdminAccessTest, ARefusalNamesTheRemedy) {
  server.set_access({secret, {}});
  const std::string without = ask(server, request("POST /drain"));
  EXPECT_TRUE(without.starts_with("HTTP/1.1 401 Unauthorized\r\n")) << without;
  EXPECT_TRUE(contains(without, "WWW-Authenticate: Bearer\r\n")) << without;
  EXPECT_TRUE(contains(without, "--admin-token-file")) << without;
  EXPECT_EQ(drained, 0);

  const std::string with =
      ask(server, request("POST /drain", "Authorization: Bearer " + secret + "\r\n"));
  EXPECT_TRUE(with.starts_with("HTTP/1.1 200 OK\r\n")) << with;
  EXPECT_EQ(drained, 1);

  server.set_access({"another-token-0123", {}});  // at a reload
  EXPECT_TRUE(ask(server, request("POST /drain", "Authorization: Bearer " + secret + "\r\n"))
                  .starts_with("HTTP/1.1 401 "));
  EXPECT_EQ(drained, 1);
}

TEST_F(AdminAccessTest, ARequestForAnotherNameIsToldWhatToDo) {
  const std::string answer =
      ask(server, "GET /topology HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 421 Misdirected Request\r\n")) << answer;
  EXPECT_TRUE(contains(answer, "--admin-host evil.example")) << answer;
  // The target's authority counts where it has one (RFC 9112 §3.2.2).
  EXPECT_TRUE(ask(server,
                  "GET http://evil.example/topology HTTP/1.1\r\nHost: localhost\r\n"
                  "Connection: close\r\n\r\n")
                  .starts_with("HTTP/1.1 421 "));
  EXPECT_TRUE(contains(ask(server, "GET /livez HTTP/1.0\r\n\r\n"), "ok\n"));
}

}  // namespace
}  // namespace ringside::http
