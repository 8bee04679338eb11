#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/replica.h"
#include "metrics/totals.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/test_client.h"

namespace ringside::cache {

// A replica of two cores, all of whose requests go to one origin. Its time stands still until it is
// moved.
class SomeReplica {
 public:
  explicit SomeReplica(const Endpoint& origin, std::size_t memory_bytes = 16 * limits::kMiB)
      : settings_(std::make_shared<Settings>()) {
    const http::RouteMatch everything;
    settings_->routes = {{"all", everything, origin}};
    settings_->route_table = http::RouteTable::make({everything}).value();
    settings_->purge_from = {Network::parse("127.0.0.1/32").value()};
    Replica::Start start;
    start.name = "cache-7";
    start.listen = {"127.0.0.1", 0};
    start.cores = 2;
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
  // Requests answered so, by the replica's own count.
  [[nodiscard]] std::uint64_t counted(metrics::Outcome outcome) const {
    return replica_->sheet().totals().shards.at(0).requests[static_cast<std::size_t>(outcome)];
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

inline constexpr std::string_view lives = "Cache-Control: max-age=60\r\n";

}  // namespace ringside::cache
