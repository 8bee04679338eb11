#include "http1/admin_connections.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside::http {
namespace {

const Endpoint loopback{"127.0.0.1", 0};

bool hang_up(AdminWire&) { return false; }

TEST(AdminConnections, NeverStartedCanBeStopped) {
  AdminConnections connections(hang_up);
  connections.stop();
}

TEST(AdminConnections, AddressesThatCannotBeTakenNameTheRemedy) {
  AdminConnections first(hang_up);
  ASSERT_TRUE(first.start(loopback));
  const Endpoint taken = first.address();
  EXPECT_EQ(taken.host, "127.0.0.1");
  EXPECT_NE(taken.port, 0);

  struct Case {
    Endpoint listen;
    std::string reason;
  };
  for (const auto& c : std::vector<Case>{
           {taken, "the port is in use; stop the program that has it or choose another port"},
           // RFC 5737: for documentation, so nobody's.
           {{"192.0.2.1", 0},
            "that is no address of this machine; choose one that is, or 127.0.0.1"}}) {
    AdminConnections second(hang_up);
    const auto started = second.start(c.listen);
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().message,
              "cannot listen on " + c.listen.text() + " for administrators: " + c.reason);
    EXPECT_TRUE(second.start(loopback)) << "another address can be tried";
  }
}

TEST(AdminConnections, APortThatWasGivenUpCanBeTakenAgain) {
  AdminConnections first(hang_up), second(hang_up);
  ASSERT_TRUE(first.start(loopback));
  first.stop();
  EXPECT_TRUE(second.start(first.address()));
}

}  // namespace
}  // namespace ringside::http
