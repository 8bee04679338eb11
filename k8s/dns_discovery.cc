#include "k8s/dns_discovery.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "base/log.h"
#include "k8s/dns_channel.h"
#include "k8s/dns_membership.h"
#include "k8s/dns_round.h"
#include "k8s/halt.h"

namespace ringside::k8s {
namespace {

std::string words_for_roster(const Roster& roster, const std::string& name) {
  const auto ready = std::count_if(roster.replicas.begin(), roster.replicas.end(),
                                   [](const Replica& replica) { return replica.ready; });
  return fmt::format("{}: {} of {} replicas ready", name, ready, roster.replicas.size());
}

class DnsDiscovery final : public Discovery {
 public:
  DnsDiscovery(DnsTarget target, const Clock& clock, Follower follower, DnsOptions options)
      : target_(std::move(target)),
        clock_(clock),
        follower_(std::move(follower)),
        pace_(options.pace),
        terms_{std::move(options.servers), std::move(options.resolv_conf), pace_.timeout,
               pace_.tries, limits::dns_datagram_size_bytes},
        thread_([this] { run(); }) {}
  ~DnsDiscovery() override {
    halt_.order();
    thread_.join();
  }

  [[nodiscard]] DiscoveryFigures figures() const override {
    const std::lock_guard lock(mutex_);
    return figures_;
  }
  void read_again() override {
    wakes_.ring();
    const std::lock_guard lock(mutex_);
    ++figures_.read_again;
  }
  [[nodiscard]] std::string_view source() const noexcept override { return "dns"; }

 private:
  void run() {
    ::pthread_setname_np(::pthread_self(), "dns");
    std::minstd_rand random(std::random_device{}());
    std::uniform_real_distribution<double> jitter(0.0, 1.0);
    DnsRound round;
    while (true) {
      const auto answer = ask();
      if (halt_.ordered()) return;
      round = take(answer, round.failures);
      if (halt_.ordered()) return;
      wait(wait_before_next(pace_, round, jitter(random)));
      if (halt_.ordered()) return;
    }
  }

  void wait(Milliseconds most) const noexcept {
    std::array<pollfd, 2> polled{pollfd{halt_.descriptor(), POLLIN, 0},
                                 pollfd{wakes_.descriptor(), POLLIN, 0}};
    ::poll(polled.data(), polled.size(), static_cast<int>(most.count()));  // early: it asks early
    wakes_.still();
  }

  Outcome<DnsAnswer> ask() {
    DnsChannel channel(terms_, halt_.descriptor(), clock_, clock_.steady_now() + pace_.round_most);
    if (auto failure = channel.failure()) return *std::move(failure);
    return ask_for_hosts(
        target_, channel.search(), found_,
        [&](const std::string& name, RecordType type) { return channel.ask(name, type); });
  }

  DnsRound take(const Outcome<DnsAnswer>& answer, unsigned failures_before) {
    auto known = answer ? with_answer(known_, answer->hosts, clock_.steady_now(), pace_.member_kept)
                        : Outcome<DnsKnown>(answer.error());
    if (known) {
      known_ = std::move(*known);
      learned(answer->name);
      return {true, answer->ttl, 0, true};
    }
    known_ = without_answer(std::move(known_));
    failed(known.error());
    return {false, Seconds{0}, failures_before + 1, !known_.members.empty()};
  }

  void learned(const std::string& name) {
    const Roster roster = roster_of(known_);
    const bool is_new = !told_ || *told_ != roster;
    const std::string words = words_for_roster(roster, name);
    if (is_new || !complaint_.empty()) log::info("dns: {}", words);
    complaint_.clear();
    if (is_new) {
      told_ = roster;
      follower_(roster);
    }
    const std::lock_guard lock(mutex_);
    figures_.in_touch = true;
    figures_.last_answer = clock_.now();
    figures_.words = words;
    if (is_new) ++figures_.rosters;
  }

  void failed(const Failure& failure) {
    const std::string words =
        fmt::format("{}{}", failure.message, told_ ? "; the last known replicas stay" : "");
    if (complaint_ != words) log::warning("dns: {}", words);
    complaint_ = words;
    const std::lock_guard lock(mutex_);
    figures_.in_touch = false;
    figures_.words = words;
    ++figures_.failures.at(static_cast<std::size_t>(failure.reason));
  }

  const DnsTarget target_;
  const Clock& clock_;
  const Follower follower_;
  const DnsPace pace_;
  const net::NameChannel::Terms terms_;

  // The thread's own.
  DnsFound found_;
  DnsKnown known_;
  std::optional<Roster> told_;
  std::string complaint_;  // as logged; empty: all is well

  mutable std::mutex mutex_;  // of the figures
  DiscoveryFigures figures_;

  Halt halt_;
  Bell wakes_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

Milliseconds wait_before_next(const DnsPace& pace, const DnsRound& round, double jitter) {
  Milliseconds wait = pace.interval_least;
  if (round.answered) {
    wait = std::clamp(std::chrono::duration_cast<Milliseconds>(round.ttl), pace.interval_least,
                      pace.interval_most);
  } else if (round.knows_members) {
    for (unsigned i = 1; i < round.failures && wait < pace.interval_most; ++i) wait *= 2;
    wait = std::min(wait, pace.interval_most);
  }
  return wait + std::chrono::duration_cast<Milliseconds>(wait * (jitter / 10));
}

std::unique_ptr<Discovery> watch_dns(DnsTarget target, const Clock& clock,
                                     Discovery::Follower follower, DnsOptions options) {
  return std::make_unique<DnsDiscovery>(std::move(target), clock, std::move(follower),
                                        std::move(options));
}

}  // namespace ringside::k8s
