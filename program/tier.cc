#include "program/tier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "metrics/sheet.h"
#include "program/membership_news.h"
#include "program/settings.h"
#include "program/sidecar_service.h"
#include "program/state_file.h"

namespace ringside::program {
namespace {

Endpoint any_loopback_port() { return {"127.0.0.1", 0}; }

Error has_stopped() { return invalid_input("the tier has stopped; start it again"); }

// The topology of cache-0 … cache-(n-1): the present one where nothing of it changes. The state,
// too, stays as it is, which may have been cut since it was read.
Result<std::shared_ptr<const shard::Topology>> topology_of(const MembershipPointer& present,
                                                           const shard::State& was_read,
                                                           const Configuration& next,
                                                           std::size_t replicas) {
  std::vector<shard::Member> members;
  for (std::size_t number = 0; number < replicas; ++number) {
    members.push_back({fmt::format("cache-{}", number), 1, ""});
  }
  const auto& in_use = present->topology;
  const std::uint64_t version = in_use->version() + 1;
  const bool is_same_rule = in_use->scheme() == tier_schemes(next) && was_read == next.state;
  auto made = shard::Topology::make(std::move(members), tier_schemes(next), version,
                                    is_same_rule ? in_use->state() : next.state);
  if (made && version > 1 && (*made)->id() == in_use->id()) return in_use;
  return made;
}

// At their ports nobody is to be counted: our own sidecar's connections begin as strangers'.
std::shared_ptr<const cache::Settings> of_replicas(const cache::Settings& settings,
                                                   PeerKeysPointer keys) {
  auto out = std::make_shared<cache::Settings>(settings);
  out->peer_keys = std::move(keys);
  out->connections_per_address = limits::connections_per_core;
  return out;
}

}  // namespace

Result<std::unique_ptr<Tier>> Tier::start(const Configuration& configuration, const Clock& clock,
                                          hop::AccessLog* access_log) {
  auto countries = open_countries_at_start(configuration);
  if (!countries) return countries.error();

  std::unique_ptr<Tier> tier(new Tier(clock));
  auto complete = tier->with_origins(configuration);
  if (!complete) return complete.error();
  auto nobody = no_members(configuration);
  if (!nobody) return nobody.error();
  auto keys = tier->peer_keys(configuration);
  if (!keys) return keys.error();
  auto made = make_cache_settings(*complete, *nobody);
  if (!made) return made.error();
  const auto for_replicas = of_replicas(**made, *keys);
  auto first = tier->grow({{}, {}, *nobody, {}}, *complete, for_replicas,
                          configuration.replica_count.value_or(replicas_by_default));
  if (!first) return first.error();
  tier->shape_ = *std::move(first);
  tell_replicas(tier->shape_, *for_replicas);
  tier->shape_.configuration = configuration;
  tier->shape_.countries = *countries;

  auto settings = make_sidecar_settings(*complete, tier->shape_.membership, *countries);
  if (!settings) return settings.error();
  auto started = sidecar::Sidecar::start(
      {with_peer_keys(**settings, *keys),
       make_setup(*complete, *configuration.listen, thread_count(configuration), access_log,
                  1 + tier->shape_.replicas.size())},
      clock);
  if (!started) return start_failure(started.error(), configuration.place("listen"));
  tier->sidecar_ = *std::move(started);
  return tier;
}

Tier::~Tier() { stop(); }

Tier::Shape Tier::shape() const {
  const std::lock_guard lock(mutex_);
  return shape_;
}

Result<Configuration> Tier::with_origins(Configuration configuration) {
  const auto routes = effective_routes(configuration);
  const bool complete = std::all_of(routes.begin(), routes.end(),
                                    [](const auto& route) { return !route.origins.empty(); });
  if (complete) return configuration;
  const std::lock_guard lock(mutex_);
  if (!origin_) {
    auto started = replay::SampleOrigin::start(any_loopback_port(), clock_);
    if (!started) return start_failure(started.error());
    origin_ = *std::move(started);
  }
  configuration.origins = {net::Origin{origin_->address(), 1}};
  return configuration;
}

Result<PeerKeysPointer> Tier::peer_keys(const Configuration& configuration) const {
  auto loaded = load_peer_keys(configuration);
  if (loaded && *loaded == nullptr) return own_keys_;
  return loaded;
}

Result<Tier::Shape> Tier::grow(const Shape& present, const Configuration& next,
                               const std::shared_ptr<const cache::Settings>& basis,
                               std::size_t replicas) {
  auto topology = topology_of(present.membership, present.configuration.state, next, replicas);
  if (!topology) return topology.error();
  Shape out = present;
  out.configuration = next;
  out.membership = nullptr;
  out.replicas.resize(std::min(replicas, present.replicas.size()));
  while (out.replicas.size() < replicas) {
    constexpr std::size_t cores = 1;
    const std::string name = fmt::format("cache-{}", out.replicas.size());
    auto started =
        cache::Replica::start({name, store_bytes(next.memory, next.machine), basis,
                               make_setup(next, any_loopback_port(), cores, nullptr, 1 + replicas)},
                              clock_);
    if (!started) {
      Error error = start_failure(started.error());
      error.message = fmt::format("{} did not start: {}", name, error.message);
      return error;  // those that did start end with `out`
    }
    out.replicas.push_back(*std::move(started));
  }
  // In natural order cache-2 is before cache-10: the numbers are the positions.
  std::vector<Endpoint> addresses;
  for (const auto& replica : out.replicas) addresses.push_back(replica->address());
  out.membership = std::make_shared<const Membership>(*std::move(topology), std::move(addresses));
  return out;
}

void Tier::tell_replicas(const Shape& shape, const cache::Settings& basis) {
  const auto settings = with_members(basis, shape.membership);
  for (const auto& replica : shape.replicas) replica->apply(settings);
}

Result<void> Tier::change(const Configuration& next, const Countries& countries, const Basis& basis,
                          std::size_t replicas) {
  const Shape present = shape();
  auto grown = grow(present, next, basis.replicas, replicas);
  if (!grown) return grown.error();

  // Nothing fails from here on. Replicas first: each knows a topology before anybody asks it under
  // that topology.
  tell_replicas(*grown, *basis.replicas);
  const auto of_leavers = with_members(*basis.replicas, grown->membership);
  retirement_.tell(of_leavers);
  for (std::size_t i = grown->replicas.size(); i < present.replicas.size(); ++i) {
    present.replicas[i]->apply(of_leavers);
  }
  sidecar_->apply(with_members(*basis.sidecar, grown->membership));
  for (std::size_t i = grown->replicas.size(); i < present.replicas.size(); ++i) {
    grown->of_leavers.add(present.replicas[i]->sheet().totals());
    retirement_.add(present.replicas[i], next.drain_deadline);
  }
  grown->countries = countries;
  const std::lock_guard lock(mutex_);
  shape_ = *std::move(grown);
  return {};
}

Result<ScaleReport> Tier::scale(std::size_t replicas) {
  const std::lock_guard control(control_);
  if (replicas == 0 || replicas > limits::members) {
    return invalid_input(
        fmt::format("{} replicas can't be; ask for 1 to {}", replicas, limits::members));
  }
  if (stopped_) return has_stopped();
  const Shape before = shape();
  const Basis present{sidecar_->settings(), before.replicas.front()->settings()};
  auto changed = change(before.configuration, before.countries, present, replicas);
  if (!changed) return changed.error();
  log_change(before.membership, membership(), "PUT /scale");
  return compare(*before.membership->topology, *membership()->topology);
}

Result<void> Tier::apply(const Configuration& loaded) {
  const std::lock_guard control(control_);
  if (stopped_) return has_stopped();
  const Shape present = shape();
  const Configuration next = with_kept_state(present.configuration, loaded);
  auto opened = open_countries(next);
  // A database that was never there may go on missing; one that is in use is not given up.
  if (!opened && !(next.geo_optional && !present.countries)) return opened.error();
  const Countries countries = opened ? *opened : Countries{};
  auto complete = with_origins(next);
  if (!complete) return complete.error();
  auto for_sidecar = make_sidecar_settings(*complete, present.membership, countries);
  if (!for_sidecar) return for_sidecar.error();
  auto for_replicas = make_cache_settings(*complete, present.membership);
  if (!for_replicas) return for_replicas.error();
  const auto keys = peer_keys(next);
  if (!keys) return keys.error();
  // As for members elsewhere: the file's number counts when it changes, else `scale` has the word.
  const std::size_t replicas = next.replica_count == present.configuration.replica_count
                                   ? present.replicas.size()
                                   : next.replica_count.value_or(replicas_by_default);
  auto changed =
      change(next, countries,
             {with_peer_keys(**for_sidecar, *keys), of_replicas(**for_replicas, *keys)}, replicas);
  if (changed) log_change(present.membership, membership(), "a reload");
  return changed;
}

Result<void> Tier::follow(const k8s::Roster& /*roster*/) {
  crash("a tier starts its own replicas and discovers none", __FILE__, __LINE__);
}

Result<void> Tier::follow_state(const shard::TopologyRequest& /*published*/) {
  crash("a tier writes its state itself", __FILE__, __LINE__);
}

// Its replicas are its own affair, what their shards are is not.
Result<MembershipPointer> Tier::propose(const shard::TopologyRequest& request) {
  const std::lock_guard control(control_);
  if (stopped_) return has_stopped();
  const Shape present = shape();
  auto next = tier::next_membership(*present.membership, request);
  if (!next) return next.error();
  const shard::Topology& topology = *(*next)->topology;
  const bool is_same_tier = topology.members() == present.membership->topology->members() &&
                            (*next)->addresses == present.membership->addresses &&
                            topology.scheme() == tier_schemes(present.configuration);
  if (!is_same_tier) {
    return Error{ErrorKind::refused, ErrorSource::client, Retry::no,
                 "`ringside up` starts its replicas itself; change their number with `ringside "
                 "scale N` or PUT /scale, and the scheme in its configuration file"};
  }
  if (auto kept = check_shards_kept(*present.membership->topology, topology); !kept) {
    return kept.error();
  }
  return adopt(present, *std::move(next), "PUT /topology");
}

Result<MembershipPointer> Tier::cut(const CutRequest& request) {
  const std::lock_guard control(control_);
  if (stopped_) return has_stopped();
  const Shape present = shape();
  const shard::Topology& topology = *present.membership->topology;
  auto state = state_after(topology, request);
  if (!state) return state.error();
  auto next = shard::Topology::make(topology.members(), topology.scheme(), topology.version() + 1,
                                    *std::move(state));
  if (!next) return next.error();
  return adopt(present,
               std::make_shared<const Membership>(*std::move(next), present.membership->addresses),
               "POST /split");
}

std::optional<CutRequest> Tier::cut_wanted() {
  const Shape present = shape();
  const cache::CutTerms terms{present.configuration.split_above, present.configuration.place_keys};
  for (const auto& replica : present.replicas) {
    if (auto cut = cut_wanted_of(*replica, terms)) return cut;
  }
  return std::nullopt;
}

Result<MembershipPointer> Tier::adopt(const Shape& present, MembershipPointer next,
                                      std::string_view by) {
  Shape changed = present;
  if (auto kept = keep_state(changed.configuration, *next->topology); !kept) return kept.error();
  changed.membership = next;
  tell_replicas(changed, *present.replicas.front()->settings());
  retirement_.tell(with_members(*present.replicas.front()->settings(), next));
  sidecar_->apply(with_members(*sidecar_->settings(), next));
  log_change(present.membership, next, by);
  const std::lock_guard lock(mutex_);
  shape_ = std::move(changed);
  return next;
}

PurgeResult Tier::purge(const http::PurgeTarget& target) {
  PurgeResult result;
  const tier::PurgeNumber number{"up", ++purges_};
  Replicas all = retirement_.replicas();  // what these hold moves to the others
  const Replicas present = shape().replicas;
  all.insert(all.end(), present.begin(), present.end());
  for (const auto& replica : all) {
    result.removed += replica->purge(target, number);
  }
  sidecar_->forget_nearby();  // last: until then a replica may have given what is purged
  return result;
}

void Tier::Moved::add(const metrics::Totals& of_replica) {
  responses += of_replica.store->moved_responses;
  bytes += of_replica.store->moved_bytes;
  fills += of_replica.shards[0].of("ringside_requests_total", metrics::Outcome::peer_fill);
  refusals += of_replica.of("ringside_refusals_total");
}

Tier::State Tier::state() const {
  const Shape present = shape();
  State out{present.membership, {}, retirement_.names()};
  out.moved = present.of_leavers;
  out.components.emplace_back("sidecar", sidecar_->settings()->membership);
  for (const auto& replica : present.replicas) {
    out.components.emplace_back(replica->name(), replica->settings()->membership);
    const metrics::Totals totals = replica->sheet().totals();
    out.buckets_away += totals.store->buckets_away;
    out.moves_waiting += totals.store->moves_waiting;
    out.moved.add(totals);
  }
  return out;
}

std::optional<std::uint64_t> Tier::origin_requests() const {
  const std::lock_guard lock(mutex_);
  return origin_ ? std::optional(origin_->requests()) : std::nullopt;
}

std::optional<Endpoint> Tier::sample_origin() const {
  const std::lock_guard lock(mutex_);
  if (!origin_) return std::nullopt;
  return origin_->address();
}

std::vector<metrics::Totals> Tier::totals() const {
  std::vector<metrics::Totals> out{sidecar_->sheet().totals()};
  for (const auto& replica : shape().replicas) out.push_back(replica->sheet().totals());
  return out;
}

MembershipPointer Tier::membership() const { return shape().membership; }

std::vector<std::string> Tier::details() const {
  const auto origin = sample_origin();
  const Shape present = shape();
  std::vector<std::string> lines{
      describe(present.countries),
      origin ? fmt::format("sample origin: {}", origin->text()) : "sample origin: none needed"};
  for (const auto& replica : present.replicas) {
    for (const std::string& line : replica->failing_origins()) {
      lines.push_back(replica->name() + ": " + line);
    }
  }
  return lines;
}

void Tier::drain() {
  const std::lock_guard control(control_);
  sidecar_->drain();  // the replicas go on, for the answers in hand
}

std::size_t Tier::open_connections() const { return sidecar_->open_connections(); }

void Tier::stop() {
  const std::lock_guard control(control_);
  stopped_ = true;
  explain_.stop();
  if (sidecar_) sidecar_->stop();
  for (const auto& replica : shape().replicas) replica->stop();
  const std::lock_guard lock(mutex_);
  if (origin_) origin_->stop();
}

ScaleReport compare(const shard::Topology& before, const shard::Topology& after) {
  ScaleReport report{
      before.members().size(), after.members().size(), before.version(),    after.version(),
      after.id().hex(),        std::nullopt,           shard::bucket_count, {}};
  const auto& old_owners = before.bucket_owners();
  const auto& new_owners = after.bucket_owners();
  if (old_owners.empty() || new_owners.empty()) return report;
  report.moved_buckets = shard::moved_buckets(before, after);
  report.buckets = new_owners.size();
  std::vector<ScaleReport::Move> moves;
  const auto move_of = [&](const std::string& name) -> ScaleReport::Move& {
    const auto found = std::find_if(moves.begin(), moves.end(),
                                    [&](const auto& move) { return move.member == name; });
    return found != moves.end() ? *found : moves.emplace_back(ScaleReport::Move{name, 0, 0});
  };
  for (const auto* topology : {&before, &after}) {
    for (const shard::Member& member : topology->members()) static_cast<void>(move_of(member.name));
  }
  for (const shard::Move& move : shard::diff(before, after)) {
    if (move.from) ++move_of(before.members()[*move.from].name).lost_buckets;
    if (move.to) ++move_of(after.members()[*move.to].name).gained_buckets;
  }
  std::erase_if(
      moves, [](const auto& move) { return move.gained_buckets == 0 && move.lost_buckets == 0; });
  report.moves = std::move(moves);
  return report;
}

}  // namespace ringside::program
