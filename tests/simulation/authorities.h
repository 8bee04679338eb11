#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "cache/replica.h"
#include "shard/topology.h"
#include "tests/simulation/simulated_clock.h"
#include "tier/holdings.h"

namespace ringside::simulation {

// Who answers with authority for which bucket, in a whole tier: no two replicas do so for the same
// one at the same time (rule 1 of tier/authority.h). What is compared is who answers, not epochs:
// while a gift is under way, giver and taker both have one. There are two exceptions, by design:
//
//   1. a gives to b, and b to c before a has heard that b had it. a hears b without it, takes the
//      gift back and answers again, with the epoch that it had. When it hears c, or to whom that
//      one has given it since, it lets go.
//   2. A scene says by part() that some can't hear each other, or that they follow different
//      topologies while a holder is gone: then one takes over what another one has. From join() on
//      they hear each other, and the lower epoch lets go.
class Authorities {
 public:
  // a asks c as soon as that one tells of what is new, which it does now and then
  // (limits::holdings_interval).
  static constexpr Milliseconds passed_on_most{1'000};
  // Who could not be reached is asked again after a pause.
  static constexpr Milliseconds parted_most = limits::holder_pause_most + Milliseconds{1'000};

  // At all replicas, null where one does not run, after a turn of the one at that place (nullopt:
  // of another process). Only that one can have changed, or one that has died; and it holds nothing
  // new without another version of its holdings. Says what breaks the invariant; nullopt: nothing.
  [[nodiscard]] std::optional<std::string> look(const std::vector<const cache::Replica*>& replicas,
                                                std::optional<std::size_t> turn, Instant now);

  void part() noexcept { joined_at_.reset(); }
  void join(Instant now);

  // Whether anywhere two answer.
  [[nodiscard]] bool has_two() const noexcept;

 private:
  struct Seen {
    const cache::Replica* replica = nullptr;
    tier::HoldingsVersion version{};
    tier::Numbers numbers{};
    std::vector<tier::Epoch> epochs = std::vector<tier::Epoch>(shard::bucket_count);
    std::vector<std::uint64_t> raised = std::vector<std::uint64_t>(shard::bucket_count);  // when
  };
  // One that answers for a bucket that another one has with a higher epoch (or the same one).
  using Lower = std::pair<shard::Bucket, std::size_t>;
  struct Overlap {
    Instant end;                        // until when that may be so
    std::optional<std::size_t> higher;  // who answers, too; nullopt: it has given the bucket away
  };

  // True: what is known of it is out of date.
  [[nodiscard]] bool follow(Seen& seen, const cache::Replica* replica);
  void see(Seen& seen);
  void count(Seen& seen, std::vector<tier::Epoch> epochs);
  void find_overlaps(Instant now);
  [[nodiscard]] std::optional<std::string> breach(Instant now) const;
  [[nodiscard]] std::vector<std::size_t> holders_of(shard::Bucket bucket) const;
  [[nodiscard]] bool answers(const Seen& seen, shard::Bucket bucket) const;
  [[nodiscard]] Instant end_of(const Lower& one, std::size_t higher, Instant now) const;

  std::vector<Seen> replicas_;
  std::vector<std::uint8_t> holders_ = std::vector<std::uint8_t>(shard::bucket_count);  // how many
  std::set<shard::Bucket> shared_;  // that more than one has: only of these two can answer
  // Of the topologies that are followed, the one with the most buckets.
  std::shared_ptr<const shard::Topology> widest_;
  std::uint64_t looks_ = 1;  // after which something had changed
  std::map<Lower, Overlap> overlaps_;
  Instant first_end_ = Instant::max();  // of these: there may be thousands, for many turns
  std::optional<Instant> joined_at_ = Instant::min();  // nullopt: they are parted
};

}  // namespace ringside::simulation
