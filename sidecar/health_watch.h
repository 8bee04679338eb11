#pragma once

#include <boost/intrusive/list.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "hop/upstream.h"
#include "metrics/core_sheet.h"
#include "net/core.h"
#include "net/retry_budget.h"
#include "net/waiter.h"
#include "shard/topology.h"
#include "sidecar/health.h"
#include "sidecar/missed.h"
#include "sidecar/replica_troubles.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// Looks after the health of the replicas for one core of a sidecar: says whom to ask, hears how
// that went, probes who is silent, and frees those who wait for it. On the core's thread alone; the
// cores see the same things soon enough, each for itself.
class HealthWatch {
  struct Replica;

 public:
  // `probes`: the way to the replicas for probes alone.
  // `repeats`: of the core's requests to replicas.
  // `troubles`: of all cores together.
  HealthWatch(net::Core& core, metrics::CoreSheet& sheet, std::unique_ptr<hop::Upstreams> probes,
              net::RetryBudget& repeats, Troubles& troubles);
  HealthWatch(const HealthWatch&) = delete;
  HealthWatch& operator=(const HealthWatch&) = delete;
  ~HealthWatch();

  // Who we are to those that are probed; see hop::Upstreams.
  void introduce_as(std::shared_ptr<const hop::PeerIdentity> self);

  // New settings: a replica that was a member before, with that name and address, keeps its health;
  // all others are in service. `shards` are the members' in the metrics, `missed` what they have.
  void follow(std::shared_ptr<const Settings> settings,
              const std::vector<metrics::ShardIndex>& shards, const MissedPointers& missed);

  // Whom to ask for a key: of its owners, in their order and without those in `asked`, the first
  // that takes it; where none does, one that is not ejected rather than one that is, and those that
  // are not ready at the very last. nullopt: all members that are anywhere were asked. `settings`
  // are the request's, and need not be the newest.
  [[nodiscard]] std::optional<shard::MemberIndex> choose(const Settings& settings,
                                                         const shard::ShardKey& key,
                                                         std::span<const shard::MemberIndex> asked);

  // How a replica stands for requests of a key.
  enum class Standing {
    in_service,  // it takes them
    returning,   // it was ejected, and does not take this key yet
    ejected,
    not_ready,  // as its source says
    unproven,   // it has not proved membership
    nowhere,    // it has no address
  };
  [[nodiscard]] Standing standing(const Settings& settings, shard::MemberIndex member,
                                  const shard::ShardKey& key, SteadyPoint now) noexcept;

  // Whether the replica is passed over at present.
  [[nodiscard]] bool is_ejected(const Settings& settings, shard::MemberIndex member) noexcept;

  // Whether a request is broken off, by Exchange::give_up(), that waits for a replica which does
  // not answer a probe. Where nobody else can answer it in its place, to go on waiting is the
  // better part; so it is where the budget has no repeat left: many may wait for one replica.
  enum class BreakOff {
    never,
    for_another,  // replica, where one answers, if the budget pays for the repeat
    for_origin,   // or for a replica, if the budget pays
    always,
  };

  // A request to a replica, from before it is sent until its answer's head is there or it failed.
  // The watch and the exchange must outlive it.
  class Ask : public boost::intrusive::list_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
   public:
    Ask(HealthWatch& watch, const Settings& settings, shard::MemberIndex member,
        hop::Exchange& exchange, BreakOff break_off);
    // How it ended; at most once.
    void end(const Result<void>& answered);
    // It was broken off, and who answers in its place may be asked: the budget has paid for it.
    [[nodiscard]] bool is_repeat_paid() const noexcept { return is_repeat_paid_; }

   private:
    friend class HealthWatch;
    HealthWatch& watch_;
    Replica* const replica_;  // null: of no interest any more
    hop::Exchange& exchange_;
    const SteadyPoint began_;
    const BreakOff break_off_;
    bool is_repeat_paid_ = false;
  };

  // Probes whoever is to be probed, until the core stops.
  Task<void> run();
  // A replica has missed something: it is to be told.
  void has_news() { look_by(core_.steady_now()); }

 private:
  using Asks = boost::intrusive::list<Ask, boost::intrusive::constant_time_size<false>>;
  struct Replica {
    std::string name;
    Endpoint address;
    metrics::ShardIndex shard = 0;
    std::shared_ptr<Missed> missed;
    Health health;
    Asks waiting;  // the oldest first
    bool is_member = false;
    bool is_probed = false;          // just now
    bool is_unproven = false;        // it has not proved membership when it was to
    bool is_silent = false;          // it has failed, and was said to
    bool awaits_first_word = false;  // it is to be probed for that alone
    [[nodiscard]] bool takes_everything() const noexcept {
      return health.is_in_service() && !is_unproven;
    }
  };
  using Key = ReplicaTroubles::Key;  // name and address

  [[nodiscard]] Replica* find(const Settings& settings, shard::MemberIndex member) noexcept;
  // The smaller the better; nullopt: can't be asked.
  [[nodiscard]] std::optional<int> rank(const Settings& settings, shard::MemberIndex member,
                                        const shard::ShardKey& key, SteadyPoint now) noexcept;
  [[nodiscard]] std::size_t members_out(const Settings& settings) const noexcept;
  [[nodiscard]] bool is_there(shard::MemberIndex index) const noexcept;
  [[nodiscard]] bool has_another(const Replica& replica) const noexcept;
  [[nodiscard]] SteadyPoint due(const Replica& replica) const noexcept;
  void look();
  void look_by(SteadyPoint at);
  void attend_to(Replica& replica);
  void begin_probe(Replica& replica);
  Task<void> probe_one(Replica& replica);
  void hear_probe(Replica& replica, const Result<std::uint64_t>& answered,
                  const std::optional<Missed::News>& news);
  [[nodiscard]] bool may_eject() const noexcept;
  void take_out(Replica& replica, const std::string& why);
  void hear(Replica& replica);
  void note_failure(Replica& replica, const Error& failure, SteadyPoint began);
  void refuse(Replica& replica, const std::string& why);
  void settle(Replica& replica);
  void break_off(Replica& replica) noexcept;
  void forget_strangers();

  net::Core& core_;
  metrics::CoreSheet& sheet_;
  std::unique_ptr<hop::Upstreams> probes_;
  net::RetryBudget& repeats_;
  Troubles& troubles_;
  std::shared_ptr<const Settings> followed_;
  // Of followed_, and those that were and are still waited for or probed.
  std::map<Key, Replica> replicas_;
  std::vector<Replica*> members_;           // of followed_, in its order
  std::vector<shard::MemberIndex> owners_;  // scratch of choose()
  net::Waiter sleep_;                       // of run()
  SteadyPoint looked_;
  SteadyPoint next_look_;
  std::size_t first_looked_at_ = 0;  // of members_, in turn
};

}  // namespace ringside::sidecar
