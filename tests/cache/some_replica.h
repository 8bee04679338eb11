#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/replica.h"
#include "http1/wire.h"
#include "metrics/totals.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/test_client.h"

namespace ringside::cache {

// A replica, all of whose requests go to one origin. Its time stands still until it is moved.
class SomeReplica {
 public:
  explicit SomeReplica(const Endpoint& origin, std::size_t memory_bytes = 16 * limits::kMiB,
                       std::size_t cores = 2, std::string name = "cache-7")
      : settings_(std::make_shared<Settings>()) {
    const http::RouteMatch everything;
    settings_->routes = {{"all", everything, {net::Origin{origin, 1}}}};
    settings_->route_table = http::RouteTable::make({everything}).value();
    settings_->insecure_peers = true;  // tests speak like sidecars; see replica_stranger_test.cc
    settings_->purge_from = {Network::parse("127.0.0.1/32").value()};
    Replica::Start start;
    start.name = std::move(name);
    start.setup.wire = &http::wire();
    start.setup.listen = {"127.0.0.1", 0};
    start.setup.cores = cores;
    start.memory_bytes = memory_bytes;
    start.settings = settings_;
    auto started = Replica::start(std::move(start), clock_);
    if (!started) ADD_FAILURE() << started.error().message;
    replica_ = std::move(*started);
  }

  [[nodiscard]] Replica& operator*() noexcept { return *replica_; }
  [[nodiscard]] Replica* operator->() noexcept { return replica_.get(); }
  [[nodiscard]] support::FakeClock& clock() noexcept { return clock_; }
  [[nodiscard]] support::TestClient client() { return support::TestClient(replica_->address()); }
  // On a connection of its own.
  support::Reply get(std::string_view target, std::string_view field_lines = {}) {
    return client().get(target, field_lines);
  }
  [[nodiscard]] metrics::StoreFigures store() const { return *replica_->sheet().totals().store; }
  // Requests answered so, by the replica's own count, which comes after the answer.
  [[nodiscard]] std::uint64_t counted(metrics::Outcome outcome) const {
    return replica_->sheet().totals().shards.at(0).of("ringside_requests_total", outcome);
  }
  [[nodiscard]] bool counts(metrics::Outcome outcome, std::uint64_t expected) const {
    return support::eventually([&] { return counted(outcome) >= expected; }) &&
           counted(outcome) == expected;
  }
  // Waits until no fetch is in the air: what is to be stored is.
  void settle() {
    EXPECT_TRUE(support::eventually([this] { return store().flights == 0; }));
  }
  // Settings like the present ones, to be changed and applied.
  [[nodiscard]] Settings settings() const { return *settings_; }
  void apply(Settings settings) {
    settings_ = std::make_shared<Settings>(std::move(settings));
    replica_->apply(settings_);
  }

 private:
  support::FakeClock clock_;
  std::shared_ptr<Settings> settings_;
  std::unique_ptr<Replica> replica_;
};

// Shows that a replica of one core has broken off all that was due: an idle connection, which was
// opened before time was moved on by at least limits::client_idle_timeout, has been closed.
class WheelWatch {
 public:
  explicit WheelWatch(SomeReplica& replica) : idle_(replica.client()) {
    const std::string_view unanswerable = "Cache-Control: only-if-cached\r\n";
    EXPECT_EQ(idle_.get("/never", unanswerable).status, 504);
    // By the time of this answer the one core has gone back to wait for the next request there.
    EXPECT_EQ(replica.get("/never", unanswerable).status, 504);
  }
  void expect_turned() { EXPECT_EQ(idle_.read_to_end(), support::RawSocket::End::closed); }

 private:
  support::TestClient idle_;
};

inline constexpr std::string_view lives = "Cache-Control: max-age=60\r\n";

}  // namespace ringside::cache
