#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_slices.h"

namespace ringside::cache {
namespace {

using support::eventually;
using support::Gate;
using support::get_request;
using support::Stage;

constexpr std::string_view no_cache = "Cache-Control: no-cache\r\n";

// The first slice of one version is stored; then slices are twice as large, and the origin has
// another version of the same length, which it gives once the gate is open.
struct TwoVersions {
  TwoVersions()
      : slices(
            [this](Stage& stage) {
              while (true) {
                const auto request = stage.read_request();
                if (is_changed) stage.wait(go);
                stage.send((is_changed ? fresh : old).answer_to(request));
              }
            },
            16 * limits::kMiB, 1) {
    expect_part(slices.replica.get("/", range(0, 9)), old.body, 0, 9);
    slices.replica.settle();
    auto rules = in_slices();
    rules.slice_size_bytes = 2 * slice_bytes;
    set_rules(slices.replica, rules);
    is_changed = true;
  }
  support::TestClient ask(std::string_view lines) {
    auto client = slices.replica.client();
    client.send(get_request("/", lines));
    let_core_catch_up(slices.replica);
    let_core_catch_up(slices.replica);
    return client;
  }
  // It was promised the old version, which is no more.
  void expect_cut(const support::Reply& reply) const {
    EXPECT_EQ(reply.status, 206);
    EXPECT_EQ(reply.field("etag"), "\"1\"");
    EXPECT_FALSE(reply.whole);
    EXPECT_EQ(reply.body, "");
  }
  void expect_new_is_stored() {
    slices.replica.settle();
    const std::size_t asked = slices.origin.requests();
    const auto hit = slices.replica.get("/", range(100'000, 100'009));
    expect_part(hit, fresh.body, 100'000, 100'009);
    EXPECT_EQ(hit.field("etag"), "\"2\"");
    EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=60");
    EXPECT_EQ(slices.origin.requests(), asked);
  }

  const Object old{numbered(object_bytes)};
  const Object fresh{std::string(object_bytes, 'n'),
                     "Cache-Control: max-age=60\r\nETag: \"2\"\r\n"};
  std::atomic<bool> is_changed{false};
  Gate go;
  Slices slices;
};

// It joined the fetch of who asked for the new version, and took what came for its own.
TEST(ReplicaSliceVersions, Rfc9110Section15_3_7_3BytesOfTheNewDoNotFollowTheHeadOfTheOld) {
  TwoVersions versions;
  auto of_new = versions.ask(std::string(no_cache) + range(0, 9));
  ASSERT_TRUE(eventually([&] { return versions.slices.origin.requests() == 2; }));
  auto of_old = versions.ask(range(100'000, 100'009));
  versions.go.open();
  versions.expect_cut(of_old.read());
  const auto reply = of_new.read();
  expect_part(reply, versions.fresh.body, 0, 9);
  EXPECT_EQ(reply.field("etag"), "\"2\"");
  versions.expect_new_is_stored();
}

// What came was not of the tag that was asked for, and so was stored for nobody.
TEST(ReplicaSliceVersions, WhoWantsTheOldDoesNotSpoilTheFetchOfTheNew) {
  TwoVersions versions;
  auto of_old = versions.ask(range(100'000, 100'009));
  ASSERT_TRUE(eventually([&] { return versions.slices.origin.requests() == 2; }));
  auto of_new = versions.ask(std::string(no_cache) + range(0, 9));
  versions.go.open();
  versions.expect_cut(of_old.read());
  const auto reply = of_new.read();
  expect_part(reply, versions.fresh.body, 0, 9);
  EXPECT_EQ(reply.field("etag"), "\"2\"");
  EXPECT_EQ(reply.field("cache-status"), "cache-7; fwd=request; fwd-status=206; stored");
  versions.expect_new_is_stored();
}

}  // namespace
}  // namespace ringside::cache
