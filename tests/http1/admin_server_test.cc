#include "http1/admin_server.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/http1/some_admin_server.h"

namespace ringside::http {
namespace {

struct Expected {
  std::string request;
  std::string status_line;
  std::vector<std::string> parts;
};

void expect(const AdminServer& server, const std::vector<Expected>& cases) {
  for (const auto& c : cases) {
    SCOPED_TRACE(c.request.substr(0, 100));
    const std::string answer = ask(server, c.request);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + c.status_line + "\r\n")) << answer;
    EXPECT_TRUE(contains(answer, "Connection: close\r\n")) << answer;
    for (const auto& part : c.parts) EXPECT_TRUE(contains(answer, part)) << answer;
  }
}

TEST_F(AdminServerTest, Answers) {
  expect(
      server,
      {{request("GET /livez"),
        "200 OK",
        {"Content-Type: text/plain; charset=utf-8\r\n", "Content-Length: 3\r\n", "\r\n\r\nok\n"}},
       {request("GET /topology?name=a%20b&x=1"),
        "200 OK",
        {"Content-Type: application/json\r\n", "path=/topology query=name=a%20b&x=1 body="}},
       {request("GET /%6Civez"), "200 OK", {"ok\n"}},
       {request("PUT /topology", "Content-Length: 4\r\n", "a\nb\n"),
        "200 OK",
        {"path=/topology query= body=a\nb\n"}},
       {request("PUT /topology", "Transfer-Encoding: chunked\r\n",
                "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"),
        "200 OK",
        {"body=abcd"}},
       // The body is the handler's, whatever form it has.
       {request("PUT /topology",
                "Content-Length: 5\r\nContent-Type: multipart/form-data; boundary=b\r\n", "--b--"),
        "200 OK",
        {"body=--b--"}},
       {request("GET /livez", "Range: bytes=0-0\r\n"), "200 OK", {"\r\n\r\nok\n"}},
       {request("GET /livez", "Accept-Encoding: gzip, br\r\n"), "200 OK", {"\r\n\r\nok\n"}}});
}

TEST_F(AdminServerTest, Refuses) {
  const std::string long_path = "/" + std::string(7000, 'a');
  expect(server,
         {{request("GET /nothing"),
           "404 Not Found",
           {"  GET, HEAD /livez\n", "  POST /drain\n", "  GET, HEAD, PUT /topology\n"}},
          {request("GET /livez/"), "404 Not Found", {}},
          {request("POST " + long_path, "Content-Length: 1\r\n", "x"), "404 Not Found", {}},
          {request("PUT /a%0Ab", "Content-Length: 1\r\n", "x"), "404 Not Found", {"/livez"}},
          {request("PUT /livez", "Content-Length: 1\r\n", "x"),
           "405 Method Not Allowed",
           {"Allow: GET, HEAD\r\n"}},
          {request("OPTIONS /topology"), "405 Method Not Allowed", {"Allow: GET, HEAD, PUT\r\n"}},
          {request("GET /drain"), "405 Method Not Allowed", {"Allow: POST\r\n"}},
          {request("DELETE /topology"), "405 Method Not Allowed", {}},
          {request("PUT /topology", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
           "501 Not Implemented",
           {}},
          {request("PUT /topology", "Transfer-Encoding: chunked\r\n", "x\r\n"),
           "400 Bad Request",
           {"malformed"}},
          {request("GET /throws"), "500 Internal Server Error", {"no figures today"}},
          {request("GET /throws-an-int"), "500 Internal Server Error", {"the handler failed"}},
          {"NONSENSE\r\n\r\n", "400 Bad Request", {"not a request that is understood here"}},
          {request("PURGE /livez"), "405 Method Not Allowed", {"Allow: GET, HEAD\r\n"}}});
}

TEST_F(AdminServerTest, HeadIsGetWithoutTheBody) {
  const std::string answer = ask(server, request("HEAD /livez"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(contains(answer, "Content-Length: 3\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

// `curl -X POST` sends neither a length nor a body.
TEST_F(AdminServerTest, APostWithoutLengthHasNoBody) {
  EXPECT_TRUE(contains(ask(server, request("POST /drain")), "body="));
  EXPECT_EQ(drained, 1);
}

TEST_F(AdminServerTest, AConnectionIsKept) {
  AdminClient client(server);
  for (int i = 0; i < 10; ++i) {
    client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(client.read_until("ok\n").starts_with("HTTP/1.1 200 OK\r\n"));
  }
  client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" + request("GET /topology"));
  const std::string both = client.read_to_end();
  EXPECT_TRUE(contains(both, "ok\nHTTP/1.1 200 OK\r\n")) << both;
  EXPECT_TRUE(contains(both, "path=/topology")) << both;
}

TEST_F(AdminServerTest, BodiesBeyondTheLimitAreRefused) {
  const std::string too_much(limits::admin_body_size_bytes + 1, 'x');
  const std::string length = "Content-Length: " + std::to_string(too_much.size()) + "\r\n";
  std::string chunk(32, '\0');
  chunk.resize(static_cast<std::size_t>(
      std::snprintf(chunk.data(), chunk.size(), "%zx\r\n", too_much.size())));
  struct Case {
    const char* name;
    std::string request;
  };
  for (const auto& c : std::vector<Case>{
           {"by length", request("PUT /topology", length, too_much)},
           {"chunked", request("PUT /topology", "Transfer-Encoding: chunked\r\n",
                               chunk + too_much + "\r\n0\r\n\r\n")},
           {"a length that is not kept", request("PUT /topology", length, "x")},
           {"asked before it is sent",
            request("PUT /topology", length + "Expect: 100-continue\r\n")},
           {"on a path that takes none", request("GET /livez", length, too_much)},
       }) {
    SCOPED_TRACE(c.name);
    const std::string answer = ask(server, c.request);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 Content Too Large\r\n")) << answer;
    EXPECT_TRUE(contains(answer, "413: the body may have 4194304 bytes at most\n")) << answer;
  }
  const std::string just_enough(limits::admin_body_size_bytes, 'x');
  EXPECT_TRUE(ask(server, request("PUT /topology",
                                  "Content-Length: " + std::to_string(just_enough.size()) + "\r\n",
                                  just_enough))
                  .starts_with("HTTP/1.1 200 OK\r\n"));
}

// Unpacked, a small body could be of any size.
TEST_F(AdminServerTest, APackedBodyIsRefused) {
  const std::string answer = ask(
      server, request("PUT /topology", "Content-Encoding: gzip\r\nContent-Length: 3\r\n", "abc"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 415 Unsupported Media Type\r\n")) << answer;
}

// Two of them left no room for the bodies of those who may change something.
TEST_F(AdminServerTest, TheBodyOfAGetWasReadAndKept) {
  const std::string length = std::to_string(limits::admin_body_size_bytes);
  for (const char* fields : {"", "Expect: 100-continue\r\n"}) {
    AdminClient client(server);
    client.send(request("GET /livez", "Content-Length: " + length + "\r\n" + fields, "x"));
    EXPECT_TRUE(client.read_until("ok\n").starts_with("HTTP/1.1 200 OK\r\n"));
  }
}

TEST_F(AdminServerTest, AnUnwantedBodyIsNotTheNextRequest) {
  const std::string inner = "POST /drain HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string fields =
      "Host: localhost\r\nContent-Length: " + std::to_string(inner.size()) + "\r\n\r\n";
  for (const char* line : {"GET /livez", "GET /nothing", "OPTIONS /livez", "PUT /livez"}) {
    SCOPED_TRACE(line);
    const std::string answer = ask(server, line + (" HTTP/1.1\r\n" + fields) + inner);
    EXPECT_EQ(answer.rfind("HTTP/1.1 "), 0u) << answer;
  }
  EXPECT_EQ(drained, 0);
}

TEST_F(AdminServerTest, AHeadWithoutEndIsRefused) {
  const std::string answer =
      ask(server, "GET /livez HTTP/1.1\r\nX: " + std::string(limits::head_size_bytes, 'x'));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n")) << answer;
}

TEST_F(AdminServerTest, APageOfAnotherSiteChangesNothing) {
  struct Case {
    std::string fields;
    int drained;
  };
  for (const auto& c : std::vector<Case>{{"Origin: http://evil.example\r\n", 0},
                                         {"Origin: null\r\n", 0},
                                         {"Origin: http://localhost\r\n", 1},
                                         {"", 1}}) {
    SCOPED_TRACE(c.fields);
    drained = 0;
    const std::string answer = ask(server, request("POST /drain", c.fields));
    EXPECT_EQ(drained, c.drained);
    EXPECT_EQ(contains(answer, "HTTP/1.1 403 Forbidden\r\n"), c.drained == 0) << answer;
  }
  EXPECT_TRUE(
      contains(ask(server, request("GET /livez", "Origin: http://evil.example\r\n")), "200 OK"));
}

}  // namespace
}  // namespace ringside::http
