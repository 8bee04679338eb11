#include "simulate/simulation.h"

#include <span>

#include "base/simulate_limits.h"

namespace ringside::simulate {
namespace {

using shard::MemberIndex;

// What keys are asked for, by the buckets of their hashes: for schemes which go by these it is the
// same at every step, so the keys themselves are looked at but once.
std::vector<Load> loads_of_buckets(const KeySet& keys) {
  std::vector<Load> loads(shard::bucket_count);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    loads[shard::bucket_of(keys.hash(i))] += {1, keys.weight(i)};
  }
  return loads;
}

bool goes_by_hash_buckets(const shard::Topology& topology) noexcept {
  return !topology.finds_buckets() && !topology.bucket_owners().empty();
}

std::span<const shard::Member> members_of(const TopologyPointer& topology) noexcept {
  if (!topology) return {};
  return topology->members();
}

// One scheme's way through the steps.
class Trial {
 public:
  Trial(std::string_view scheme, const KeySet& keys, const std::vector<Load>& buckets,
        const Sample& sample)
      : scheme_(scheme), keys_(keys), buckets_(buckets), sample_(sample) {}

  // `on_keys` hears how many keys have been looked at.
  template <class OnKeys>
  Row take(const Step& step, std::size_t index, OnKeys on_keys) {
    Row row{std::string(scheme_), index, before_, {}, {}, {}};
    auto built = build(topology_, step.members, scheme_, keys_);
    if (!built) {
      row.refusal = built.error().message;
      return row;
    }
    const shard::Topology& next = *built->topology;
    row.cost = built->cost;
    row.cost.look_up_ns = sample_.look_up_ns(next);
    Tallying tallying(members_of(topology_), next.members());
    if (goes_by_hash_buckets(next)) {
      add_buckets(next, tallying);
    } else {
      add_keys(next, tallying, on_keys);
    }
    row.figures = figures_of(std::move(tallying).take(), members_of(topology_), next.members());
    topology_ = std::move(built->topology);
    before_ = index;
    return row;
  }

 private:
  void add_buckets(const shard::Topology& next, Tallying& tallying) const {
    for (std::size_t bucket = 0; bucket < shard::bucket_count; ++bucket) {
      const MemberIndex owner = next.bucket_owners()[bucket];
      if (topology_) {
        tallying.add(buckets_[bucket], topology_->bucket_owners()[bucket], owner);
      } else {
        tallying.add(buckets_[bucket], owner);
      }
    }
  }

  template <class OnKeys>
  void add_keys(const shard::Topology& next, Tallying& tallying, OnKeys on_keys) {
    std::string room;
    owners_.resize(keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const MemberIndex owner = next.owner(keys_.key(i, room));
      const Load load{1, keys_.weight(i)};
      if (topology_) {
        tallying.add(load, owners_[i], owner);
      } else {
        tallying.add(load, owner);
      }
      owners_[i] = owner;
      if ((i + 1) % limits::simulate_keys_between_news == 0) on_keys(i + 1);
    }
  }

  std::string_view scheme_;
  const KeySet& keys_;
  const std::vector<Load>& buckets_;
  const Sample& sample_;
  std::optional<std::size_t> before_;  // the last step that was not refused
  TopologyPointer topology_;           // at it
  std::vector<MemberIndex> owners_;    // of each key there; empty for schemes by bucket
};

}  // namespace

std::vector<Row> simulate(const std::vector<std::string>& schemes, const std::vector<Step>& steps,
                          const KeySet& keys, const OnProgress& on_progress) {
  const std::vector<Load> buckets = loads_of_buckets(keys);
  const Sample sample(keys);
  const std::uint64_t all = std::uint64_t{keys.size()} * schemes.size() * steps.size();
  std::vector<Row> rows;
  for (const std::string& scheme : schemes) {
    Trial trial(scheme, keys, buckets, sample);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::uint64_t done = std::uint64_t{keys.size()} * rows.size();
      on_progress({scheme, i, done, all});
      rows.push_back(trial.take(steps[i], i, [&](std::size_t looked_at) {
        on_progress({scheme, i, done + looked_at, all});
      }));
    }
  }
  return rows;
}

}  // namespace ringside::simulate
