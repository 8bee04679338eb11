#include "http/cache_status.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/support/pages.h"

namespace ringside::http {
namespace {

using namespace std::string_literals;
using Forward = CacheStatus::Forward;

std::string text(const CacheStatus& status) {
  std::string out;
  append_cache_status(out, status);
  return out;
}

std::string text(const ProxyStatus& status) {
  std::string out;
  append_proxy_status(out, status);
  return out;
}

CacheStatus hit(std::optional<std::int64_t> ttl_seconds) {
  CacheStatus status{.cache = "cache-3", .hit = true};
  status.ttl_seconds = ttl_seconds;
  return status;
}

CacheStatus forwarded(Forward forward) {
  return CacheStatus{.cache = "cache-3", .forward = forward};
}

TEST(CacheStatus, TheTableOfTheDocsHasEachForwardAndNoOther) {
  std::set<std::string> said;
  for (int i = 1; i <= static_cast<int>(Forward::partial); ++i) {
    said.emplace(name(static_cast<Forward>(i)));
  }
  EXPECT_EQ(support::rows_of("/docs/cache-status.md", "fwd="), said);
}

TEST(CacheStatus, Rfc9211Section2Members) {
  CacheStatus stored = forwarded(Forward::uri_miss);
  stored.forward_status = 200;
  stored.stored = true;
  stored.collapsed = true;
  stored.ttl_seconds = 60;
  CacheStatus excluded = hit(5);
  excluded.forward = Forward::stale;
  excluded.forward_status = 304;
  excluded.stored = true;
  excluded.collapsed = true;
  CacheStatus detailed = hit(std::nullopt);
  detailed.detail = "near";
  CacheStatus keyed = detailed;  // RFC 9211 §2.7
  keyed.key = "http a.test /\"x\" DE";
  CacheStatus quoted_detail = forwarded(Forward::bypass);
  quoted_detail.detail = "no \"store\"";
  struct Row {
    CacheStatus status;
    std::string text;
  };
  const std::vector<Row> rows{
      {hit(376), "cache-3; hit; ttl=376"},
      {hit(-412), "cache-3; hit; ttl=-412"},
      {hit(0), "cache-3; hit; ttl=0"},
      {hit(std::nullopt), "cache-3; hit"},
      {hit(std::numeric_limits<std::int64_t>::max()), "cache-3; hit; ttl=999999999999999"},
      {hit(std::numeric_limits<std::int64_t>::min()), "cache-3; hit; ttl=-999999999999999"},
      {stored, "cache-3; fwd=uri-miss; fwd-status=200; stored; collapsed; ttl=60"},
      {excluded, "cache-3; hit; ttl=5"},
      {detailed, "cache-3; hit; detail=near"},
      {keyed, "cache-3; hit; key=\"http a.test /\\\"x\\\" DE\"; detail=near"},
      {quoted_detail, "cache-3; fwd=bypass; detail=\"no \\\"store\\\"\""},
      {forwarded(Forward::none), "cache-3"},
      {forwarded(Forward::bypass), "cache-3; fwd=bypass"},
      {forwarded(Forward::method), "cache-3; fwd=method"},
      {forwarded(Forward::vary_miss), "cache-3; fwd=vary-miss"},
      {forwarded(Forward::miss), "cache-3; fwd=miss"},
      {forwarded(Forward::request), "cache-3; fwd=request"},
      {forwarded(Forward::stale), "cache-3; fwd=stale"},
      {forwarded(Forward::partial), "cache-3; fwd=partial"},
  };
  for (const auto& row : rows) EXPECT_EQ(text(row.status), row.text);
}

TEST(CacheStatus, Rfc8941Section3Point3NamesAreTokensOrStrings) {
  struct Row {
    std::string name;
    std::string text;
  };
  const std::vector<Row> rows{
      {"ringside", "ringside"},     {"*a:b/c.d", "*a:b/c.d"},
      {"3cache", "\"3cache\""},     {"", "\"\""},
      {"a b", "\"a b\""},           {"a;b=c", "\"a;b=c\""},
      {"a, b", "\"a, b\""},         {"say \"hi\" \\ ", "\"say \\\"hi\\\" \\\\ \""},
      {"a\r\nX: b", "\"a??X: b\""}, {"\xc3\xa9\x7f\0"s, "\"????\""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(text(CacheStatus{.cache = row.name}), row.text);
    EXPECT_EQ(text(ProxyStatus{.proxy = row.name}), row.text);
  }
}

TEST(CacheStatus, AppendsAfterWhatIsThere) {
  std::string out = "OriginCache; hit, ";
  append_cache_status(out, hit(3));
  EXPECT_EQ(out, "OriginCache; hit, cache-3; hit; ttl=3");
}

TEST(ProxyStatus, Rfc9209Section2Members) {
  EXPECT_EQ(text(ProxyStatus{"ringside", "connection_timeout", ""}),
            "ringside; error=connection_timeout");
  EXPECT_EQ(text(ProxyStatus{"ringside", "http_request_error", "bare \"LF\"\n"}),
            "ringside; error=http_request_error; details=\"bare \\\"LF\\\"?\"");
}

}  // namespace
}  // namespace ringside::http
