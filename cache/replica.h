#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "cache/full_shards.h"
#include "cache/purge_report.h"
#include "cache/settings.h"
#include "hop/half.h"
#include "hop/topology_news.h"
#include "http/purge_target.h"
#include "metrics/sheet.h"
#include "shard/state.h"
#include "tier/buckets.h"
#include "tier/purges.h"

namespace ringside::cache {

class Holders;

// One cache process's worth: a listener, a store, and the way to the origin. All methods are for
// the control thread, one at a time, where nothing else is said.
class Replica final : public hop::Half {
 public:
  struct Start {
    std::string name;  // stable; what the ring hashes
    std::size_t memory_bytes = limits::store_memory_bytes;
    std::shared_ptr<const Settings> settings;
    hop::Setup setup;
  };
  // Binds and serves. The clock must outlive the replica.
  [[nodiscard]] static Result<std::unique_ptr<Replica>> start(Start start, const Clock& clock);
  ~Replica();  // stop()

  [[nodiscard]] const std::string& name() const noexcept;
  void apply(std::shared_ptr<const Settings> settings);
  [[nodiscard]] std::shared_ptr<const Settings> settings() const;  // thread-safe
  // Others take what it holds from here on, and it takes nothing any more. It goes on serving.
  void give_all();
  // Of how many buckets it holds something that others are to take, which is to be waited for
  // before it ends. Thread-safe.
  [[nodiscard]] std::size_t buckets_to_give() const;
  // How many are its own and held by another one.
  [[nodiscard]] std::size_t buckets_away() const;
  // Those that were members and may hold something still.
  [[nodiscard]] std::vector<tier::Peer> leavers() const;
  // How many of its peers it has yet to hear. Until then what others have stored may seem to be
  // stored nowhere. Thread-safe.
  [[nodiscard]] std::size_t peers_unheard() const;
  // How many responses it has stored of each shard of that topology (cache/shard_counts.h).
  // Nullopt: the topology is neither the one that it follows nor cuts that one's shards.
  // Thread-safe.
  [[nodiscard]] std::optional<std::vector<std::size_t>> stored_by_shard(
      const shard::Topology& topology) const;
  // See cache/full_shards.h. Thread-safe.
  [[nodiscard]] std::optional<shard::Cut> cut_wanted(const shard::Topology& topology,
                                                     const CutTerms& terms) const;
  // Thread-safe; brings the store's figures up to date.
  [[nodiscard]] const metrics::Sheet& sheet() const;

  // A line for each origin that is left alone because it has failed. Thread-safe.
  [[nodiscard]] std::vector<std::string> failing_origins() const;
  // What it knows of who holds which bucket. Thread-safe.
  [[nodiscard]] const Holders& holders() const noexcept;
  // Hears of the topologies that other members follow. Thread-safe.
  [[nodiscard]] hop::TopologyNews& topology_news() const noexcept;

  // Removes every stored response that is meant, of a URI under the query that the present rules
  // make of it; a flight for it that is in the air stores nothing. Returns how many. Thread-safe.
  // `number`: given if the caller tells all replicas of it.
  std::size_t purge(const http::PurgeTarget& purged,
                    const std::optional<tier::PurgeNumber>& number = std::nullopt);
  // The same of one that is asked of this replica alone, which tells its peers. `end` is called
  // once, on a core's thread, or before this returns where the replica has stopped.
  using PurgeEnd = std::function<void(PurgeReport)>;
  void purge(http::PurgeTarget purged, PurgeEnd end);

 private:
  struct Impl;
  Replica(Start start, const Clock& clock);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::cache
