#include "k8s/dns_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/name_server.h"

namespace ringside::k8s {
namespace {

using namespace std::chrono_literals;
using support::NameReply;
using support::NameServer;
using ReplyKind = NameReply::Kind;
using testing::HasSubstr;

class DnsChannelTest : public testing::Test {
 protected:
  Outcome<std::vector<std::string>> addresses(const std::string& name, Milliseconds within = 1h) {
    net::NameChannel::Terms terms;
    terms.servers = server.address();
    DnsChannel channel(terms, wake_up.descriptor(), clock, clock.steady_now() + within);
    EXPECT_FALSE(channel.failure());
    return channel.addresses(name);
  }

  SystemClock clock;
  NameServer server;
  support::Gate wake_up;
};

TEST_F(DnsChannelTest, TellsAddressesAsText) {
  server.set("api.test", {ReplyKind::records, {{"10.0.0.1"}, {"10.0.0.2"}}});
  EXPECT_EQ(addresses("api.test").value().size(), 2U);
  EXPECT_THAT(addresses("localhost").value(), testing::Contains("127.0.0.1"));
  const auto absent = addresses("other.test");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().reason, FailureReason::unreachable);
  EXPECT_THAT(absent.error().message, HasSubstr("other.test has no address"));
}

TEST_F(DnsChannelTest, ASilentServerIsGivenUpInTime) {
  server.set("api.test", {ReplyKind::silence, {}});
  EXPECT_FALSE(addresses("api.test", 20ms));
}

// A test that hangs here is ended by ctest.
TEST_F(DnsChannelTest, WhoWaitsForAddressesIsWoken) {
  server.set("api.test", {ReplyKind::silence, {}});
  std::thread waits([&] { EXPECT_FALSE(addresses("api.test")); });
  while (server.questions("api.test") == 0) std::this_thread::sleep_for(1ms);
  wake_up.open();
  waits.join();
}

}  // namespace
}  // namespace ringside::k8s
