#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cache/replica.h"
#include "program/countries.h"
#include "program/explain_page.h"
#include "program/peer_keys.h"
#include "program/retirement.h"
#include "program/service.h"
#include "replay/sample_origin.h"
#include "sidecar/sidecar.h"

namespace ringside::program {

// What a change of the number of replicas did.
struct ScaleReport {
  std::size_t replicas_before = 0;
  std::size_t replicas_after = 0;
  std::uint64_t version_before = 0;
  std::uint64_t version_after = 0;
  std::string id;  // of the topology in use now
  struct Move {
    std::string member;
    std::size_t gained_buckets = 0;
    std::size_t lost_buckets = 0;
  };
  // Absent where the scheme is not by bucket.
  std::optional<std::size_t> moved_buckets;
  std::size_t buckets = 0;  // that there are
  std::vector<Move> moves;  // members that gained or lost, in the topologies' order
};

// `ringside up`: a sidecar and its replicas in one process. They share nothing but it: all traffic
// crosses loopback sockets. Replicas are cache-0, cache-1, … with one core each.
class Tier final : public Service {
 public:
  // Starts the sample origin where a route has none. The access log is the
  // sidecar's. It and the clock must outlive the tier.
  [[nodiscard]] static Result<std::unique_ptr<Tier>> start(const Configuration& configuration,
                                                           const Clock& clock,
                                                           hop::AccessLog* access_log = nullptr);
  ~Tier() override;

  // Changes the number of replicas. New ones are started before any topology names them; the
  // topology is published whole, to the replicas and then to the sidecar; and only when nobody
  // chooses them any more the highest are drained and stopped, after this has returned. Where a
  // start fails, nothing has changed.
  [[nodiscard]] Result<ScaleReport> scale(std::size_t replicas);

  // Counted by replicas since they were started; by those that leave, until they were told so.
  struct Moved {
    std::uint64_t responses = 0;
    std::uint64_t bytes = 0;
    std::uint64_t fills = 0;     // requests that were answered of a holder's store
    std::uint64_t refusals = 0;  // requests of sidecars that were sent on to a holder
    void add(const metrics::Totals& of_replica);
  };
  // The memberships in use, to be seen to agree.
  struct State {
    MembershipPointer membership;
    std::vector<std::pair<std::string, MembershipPointer>> components;  // what each has
    std::vector<std::string> retiring;  // replicas that have not ended
    // Of all replicas: how far what is stored has moved to whom it belongs to.
    std::uint64_t buckets_away = 0;
    std::uint64_t moves_waiting = 0;  // until a replica has room
    Moved moved{};
  };
  [[nodiscard]] State state() const;
  [[nodiscard]] std::optional<std::uint64_t> origin_requests() const;  // of the sample origin
  [[nodiscard]] std::optional<Endpoint> sample_origin() const;

  [[nodiscard]] std::string title() const override { return "up"; }
  [[nodiscard]] Endpoint address() const override { return sidecar_->address(); }
  [[nodiscard]] std::vector<metrics::Totals> totals() const override;
  [[nodiscard]] MembershipPointer membership() const override;
  [[nodiscard]] std::vector<StoredShards> stored_shards(
      const shard::Topology& topology) const override;
  [[nodiscard]] std::string not_ready() const override { return {}; }
  [[nodiscard]] std::vector<std::string> details() const override;
  [[nodiscard]] Result<void> apply(const Configuration& loaded) override;
  [[nodiscard]] Result<MembershipPointer> propose(const shard::TopologyRequest& request) override;
  [[nodiscard]] Result<MembershipPointer> cut(const CutRequest& request) override;
  [[nodiscard]] Result<void> follow_state(const shard::TopologyRequest& published) override;
  [[nodiscard]] std::optional<CutRequest> cut_wanted() override;
  [[nodiscard]] Result<void> follow(const k8s::Roster& roster) override;
  [[nodiscard]] PurgeResult purge(const http::PurgeTarget& target) override;
  void drain() override;
  [[nodiscard]] std::size_t open_connections() const override;
  void stop() override;
  void add_pages(http::AdminServer& server) override;

 private:
  using Replicas = std::vector<std::shared_ptr<cache::Replica>>;

  // Everything of the tier that changes, as one value.
  struct Shape {
    Configuration configuration;
    Countries countries;
    MembershipPointer membership;
    Replicas replicas;   // by number
    Moved of_leavers{};  // what has moved altogether never falls
  };

  // What the parts are given, but for their members: a change of their number alone reads no file.
  struct Basis {
    std::shared_ptr<const sidecar::Settings> sidecar;
    std::shared_ptr<const cache::Settings> replicas;
  };

  explicit Tier(const Clock& clock) : clock_(clock), retirement_(clock) {}
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] Result<Configuration> with_origins(Configuration configuration);
  // Those of the file, else what this tier has made for itself.
  [[nodiscard]] Result<PeerKeysPointer> peer_keys(const Configuration& configuration) const;
  // Makes the shape with so many replicas, starting those that are missing under `basis`.
  [[nodiscard]] Result<Shape> grow(const Shape& present, const Configuration& next,
                                   const std::shared_ptr<const cache::Settings>& basis,
                                   std::size_t replicas);
  // The same replicas under another state, once it is in its file.
  [[nodiscard]] Result<MembershipPointer> adopt(const Shape& present, MembershipPointer next,
                                                std::string_view by);
  static void tell_replicas(const Shape& shape, const cache::Settings& basis);
  [[nodiscard]] Result<void> change(const Configuration& next, const Countries& countries,
                                    const Basis& basis, std::size_t replicas);

  const Clock& clock_;
  const PeerKeysPointer own_keys_ = std::make_shared<const hop::PeerKeys>(hop::PeerKeys::random());
  std::mutex control_;        // one change at a time; before `mutex_`
  mutable std::mutex mutex_;  // shape_ and origin_
  Shape shape_;
  std::shared_ptr<replay::SampleOrigin> origin_;  // null: every route names one
  std::unique_ptr<sidecar::Sidecar> sidecar_;     // set once
  ExplainPage explain_;
  Retirement retirement_;
  std::atomic<std::uint64_t> purges_{0};
  bool stopped_ = false;
};

// What moves between two topologies.
[[nodiscard]] ScaleReport compare(const shard::Topology& before, const shard::Topology& after);

// The bodies of `GET /scale` and `PUT /scale`.
[[nodiscard]] std::string to_json(const Tier::State& state);
[[nodiscard]] std::string to_json(const Tier::State& state, const ScaleReport& report);

}  // namespace ringside::program
