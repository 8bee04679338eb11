#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/limits.h"
#include "cache/replica.h"
#include "sidecar/sidecar.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/test_client.h"
#include "tests/support/tls_server.h"

namespace ringside::fault {

// A clock that runs so many times faster: with enough of them every deadline of ours comes within a
// test's patience.
class FastClock final : public Clock {
 public:
  explicit FastClock(int times) noexcept : times_(times) {}
  [[nodiscard]] TimePoint now() const noexcept override {
    return TimePoint{Milliseconds{1'700'000'000'000}} +
           std::chrono::duration_cast<Milliseconds>(passed());
  }
  [[nodiscard]] SteadyPoint steady_now() const noexcept override {
    return SteadyPoint{std::chrono::hours{1}} +
           std::chrono::duration_cast<std::chrono::microseconds>(passed());
  }
  [[nodiscard]] Milliseconds longest_sleep() const noexcept override {
    return limits::deadline_tick;
  }

 private:
  using Real = std::chrono::steady_clock;
  [[nodiscard]] Real::duration passed() const noexcept { return (Real::now() - began_) * times_; }
  const int times_;
  const Real::time_point began_ = Real::now();
};

// What the origin answers to a target, `/<how>/<size>/<anything>`: bytes that the target alone
// decides. <how> is fresh (to be stored), length, chunked or close (until the end). To an upload it
// answers with what was uploaded.
[[nodiscard]] std::string body_of(std::string_view target);

enum class Origin { plain, under_tls };

// A sidecar, a replica and an origin in one process.
class Chain {
 public:
  Chain(Origin kind, int clock_times);
  ~Chain();

  [[nodiscard]] support::TestClient client() { return support::TestClient(sidecar_->address()); }
  // All of their connections and places are free again; to be called when the clients are gone.
  void expect_nothing_left();

 private:
  FastClock clock_;
  std::unique_ptr<support::ScriptedPeer> plain_;
  std::unique_ptr<support::Certificate> authority_;
  std::unique_ptr<support::Certificate> leaf_;
  std::unique_ptr<support::TlsServer> tls_;
  std::unique_ptr<cache::Replica> replica_;
  std::unique_ptr<sidecar::Sidecar> sidecar_;
};

}  // namespace ringside::fault
