#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http1/wire.h"
#include "metrics/totals.h"
#include "sidecar/sidecar.h"
#include "tests/sidecar/some_request.h"
#include "tests/support/errors_by.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/test_client.h"

namespace ringside::sidecar {

using Change = std::function<void(Settings&)>;

// cache-0, cache-1, … at those addresses, one route for everything by country and path.
inline std::shared_ptr<const Settings> settings_for(const std::vector<Endpoint>& replicas,
                                                    const Change& change = {}) {
  auto settings = std::make_shared<Settings>(some_settings());
  std::vector<shard::Member> members;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    members.push_back({"cache-" + std::to_string(i), 1, ""});
  }
  settings->membership = std::make_shared<const tier::Membership>(
      shard::Topology::make(std::move(members), "ring", 1).value(), replicas);
  settings->purge_from = {Network::parse("127.0.0.1/32").value()};
  if (change) change(*settings);
  complete(*settings);
  return settings;
}

// Their source says of them whether they are ready.
inline void set_ready(Settings& settings, const std::vector<bool>& ready) {
  std::vector<tier::MemberState> states;
  for (const bool one : ready) states.push_back({one, false, ""});
  settings.membership = std::make_shared<const tier::Membership>(
      settings.membership->topology, settings.membership->addresses, std::move(states));
}

// A sidecar whose time stands still until it is moved.
class SomeSidecar {
 public:
  explicit SomeSidecar(std::shared_ptr<const Settings> settings, std::size_t cores = 1) {
    Sidecar::Start start;
    start.setup.wire = &http::wire();
    start.setup.listen = {"127.0.0.1", 0};
    start.setup.cores = cores;
    start.settings = std::move(settings);
    auto started = Sidecar::start(std::move(start), clock_);
    if (!started) ADD_FAILURE() << started.error().message;
    sidecar_ = std::move(*started);
  }
  explicit SomeSidecar(const std::vector<Endpoint>& replicas, const Change& change = {})
      : SomeSidecar(settings_for(replicas, change)) {}

  [[nodiscard]] Sidecar* operator->() noexcept { return sidecar_.get(); }
  [[nodiscard]] support::FakeClock& clock() noexcept { return clock_; }
  [[nodiscard]] support::TestClient client() { return support::TestClient(sidecar_->address()); }
  // On a connection of its own.
  support::Reply get(std::string_view target, std::string_view field_lines = {}) {
    return client().get(target, field_lines);
  }
  support::Reply ask(std::string_view request) { return client().ask(request); }

  // Waits for it.
  PurgeReport purge(std::string_view host, std::string_view path_and_query) {
    const auto ended = std::make_shared<std::promise<PurgeReport>>();
    sidecar_->purge(http::PurgeTarget::of_request(host, path_and_query),
                    [ended](PurgeReport report) { ended->set_value(std::move(report)); });
    return ended->get_future().get();
  }

  [[nodiscard]] metrics::Totals totals() const { return sidecar_->sheet().totals(); }
  [[nodiscard]] std::uint64_t errors(ErrorSource source) const {
    return support::errors_by(totals(), source);
  }
  // Requests counted so for a replica; the empty name: for none.
  [[nodiscard]] std::uint64_t counted(metrics::Outcome outcome, std::string_view replica) const {
    for (const auto& shard : totals().shards) {
      if (shard.name == replica) return shard.of("ringside_requests_total", outcome);
    }
    return 0;
  }
  // A request is counted when its answer is out, so the client may be first.
  [[nodiscard]] bool will_count(std::uint64_t requests, metrics::Outcome outcome,
                                std::string_view replica) const {
    return support::eventually([&] { return counted(outcome, replica) == requests; });
  }

 private:
  support::FakeClock clock_;
  std::unique_ptr<Sidecar> sidecar_;
};

// The owners of a path for a client without a country, in order of preference.
inline std::vector<shard::MemberIndex> owners_of(const Settings& settings, std::string_view path) {
  const std::string key = "ZZ\n" + std::string(path) + "\n";
  std::vector<shard::MemberIndex> owners;
  const tier::Membership& membership = *settings.membership;
  membership.topology->owners({key, hash64(key)}, membership.size(), owners);
  return owners;
}

// A path whose first owners are these.
inline std::string path_of(const Settings& settings, const std::vector<shard::MemberIndex>& first) {
  for (int i = 0; i < 10'000; ++i) {
    std::string path = "/key-" + std::to_string(i);
    auto owners = owners_of(settings, path);
    owners.resize(first.size());
    if (owners == first) return path;
  }
  ADD_FAILURE() << "no path has these owners";
  return "/";
}

// What a replica answers that has it.
inline std::string hit_of(std::string_view name, std::string_view body = "body",
                          std::string_view more_lines = {}) {
  std::string lines = "Cache-Status: " + std::string(name) + "; hit\r\nRingside-Outcome: hit\r\n";
  return support::answer("200 OK", lines.append(more_lines), body);
}

inline std::string target_of(std::string_view head) {
  const auto from = head.find(' ') + 1;
  return std::string(head.substr(from, head.find(' ', from) - from));
}

inline std::string post(std::string_view target, std::string_view body,
                        std::string_view method = "POST") {
  return std::string(method) + " " + std::string(target) +
         " HTTP/1.1\r\nHost: a.test\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

}  // namespace ringside::sidecar
