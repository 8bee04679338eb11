#include "k8s/contact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::k8s {
namespace {

using testing::HasSubstr;
using testing::Optional;

constexpr TimePoint now{Milliseconds{784'111'777'000}};

Failure failure(FailureReason reason, std::string message = "no") {
  return {reason, std::move(message), {}};
}

TEST(ContactTest, AFailureIsLoggedOnceAndSoIsItsEnd) {
  Contact contact("the thing");
  EXPECT_FALSE(contact.in_touch());
  EXPECT_EQ(contact.heard(now, true), std::nullopt);
  EXPECT_TRUE(contact.in_touch());

  EXPECT_THAT(contact.failed(failure(FailureReason::unreachable, "away"), true),
              Optional(HasSubstr("the thing: away")));
  EXPECT_EQ(contact.failed(failure(FailureReason::unreachable), true), std::nullopt);
  EXPECT_THAT(contact.failed(failure(FailureReason::forbidden), true), Optional(HasSubstr("no")));
  EXPECT_EQ(contact.failed(failure(FailureReason::forbidden), true), std::nullopt);
  EXPECT_FALSE(contact.in_touch());
  EXPECT_EQ(contact.last_answer(), now);

  EXPECT_THAT(contact.heard(now + Seconds{5}, true), Optional(HasSubstr("answers again")));
  EXPECT_EQ(contact.heard(now + Seconds{6}, true), std::nullopt);
  EXPECT_EQ(contact.last_answer(), now + Seconds{6});
  EXPECT_TRUE(contact.in_touch());
  EXPECT_EQ(contact.failures(FailureReason::unreachable), 2U);
  EXPECT_EQ(contact.failures(FailureReason::forbidden), 2U);
  EXPECT_EQ(contact.failures(FailureReason::other), 0U);
}

TEST(ContactTest, WhatIsNoTroubleIsCountedAndNotLogged) {
  Contact contact("the thing");
  EXPECT_EQ(contact.heard(now, true), std::nullopt);
  EXPECT_EQ(contact.failed(failure(FailureReason::unreachable), false), std::nullopt);
  EXPECT_FALSE(contact.in_touch());
  EXPECT_EQ(contact.heard(now, true), std::nullopt);
  EXPECT_EQ(contact.failures(FailureReason::unreachable), 1U);
  // It becomes trouble.
  EXPECT_EQ(contact.failed(failure(FailureReason::unreachable), false), std::nullopt);
  EXPECT_NE(contact.failed(failure(FailureReason::unreachable), true), std::nullopt);
  EXPECT_NE(contact.heard(now, true), std::nullopt);
}

TEST(ContactTest, TheEndIsLoggedWhenItIsProven) {
  Contact contact("the thing");
  EXPECT_NE(contact.failed(failure(FailureReason::malformed), true), std::nullopt);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(contact.heard(now, false), std::nullopt);
    EXPECT_TRUE(contact.in_touch());
    EXPECT_EQ(contact.failed(failure(FailureReason::malformed), true), std::nullopt);
  }
  EXPECT_NE(contact.heard(now, true), std::nullopt);
}

TEST(ContactTest, SomethingElseIsNotKnownYet) {
  Contact contact("the thing");
  EXPECT_EQ(contact.heard(now, true), std::nullopt);
  EXPECT_NE(contact.failed(failure(FailureReason::forbidden), true), std::nullopt);
  contact.start_over("the other");
  EXPECT_FALSE(contact.in_touch());
  EXPECT_FALSE(contact.last_answer().has_value());
  EXPECT_FALSE(contact.failure().has_value());
  EXPECT_EQ(contact.failures(FailureReason::forbidden), 1U);
  EXPECT_THAT(contact.failed(failure(FailureReason::forbidden), true),
              Optional(HasSubstr("the other")));
}

}  // namespace
}  // namespace ringside::k8s
