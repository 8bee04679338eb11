#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "geo/country_database.h"
#include "replay/access_log.h"
#include "replay/histogram.h"
#include "replay/reply.h"
#include "replay/tier.h"
#include "replay/tier_key.h"

namespace ringside::replay {

// A change of the number of replicas during a run, as positions in the order of sending:
// [0, before) is the warm-up, [before, during) before the change, [during, after) from its start
// until it had settled, the rest after it.
struct Change {
  std::uint32_t from_replicas = 0;
  std::uint32_t to_replicas = 0;
  std::uint64_t before = 0;
  std::uint64_t during = 0;
  std::uint64_t after = 0;
};

// Counts of a group of requests.
struct Tally {
  std::uint64_t requests = 0;
  std::uint64_t gets = 0;     // GETs that the origin or a cache answered
  std::uint64_t hits = 0;     // of these GETs
  std::uint64_t repeats = 0;  // of these GETs, those whose key had been asked for before in this
                              // run: the hits of caches that had been empty and never lost anything
  std::uint64_t errors = 0;
  Histogram latency;
};
// nullopt where there were no GETs.
[[nodiscard]] std::optional<double> hit_rate_percent(const Tally& tally);

struct NamedTally {
  std::string name;
  Tally tally;
};

// What a change of the replicas did to the keys (country and target) of the traffic.
struct Moves {
  std::uint64_t keys = 0;       // GET both before the change and after it had settled
  std::uint64_t moved = 0;      // of them, answered by another replica after it
  std::uint64_t elsewhere = 0;  // of the moved, those that went to a replica that was there before
  std::uint64_t fetched_again = 0;  // misses of keys that another replica had fetched: what handoff
                                    // is to save
};

// Two counts of the same thing, which must agree.
struct Comparison {
  std::string what;
  std::string counted_by;
  std::uint64_t counted = 0;
  std::uint64_t by_metrics = 0;
  [[nodiscard]] bool agrees() const noexcept { return counted == by_metrics; }
};

struct Report {
  Tally all;
  std::vector<NamedTally> phases;     // of a change; empty without one
  std::vector<NamedTally> caches;     // by name, as people count: cache-2 before cache-10
  std::vector<NamedTally> countries;  // most requests first; empty without a database
  std::optional<Change> change;
  std::optional<Moves> moves;
  std::uint64_t misses_again = 0;  // misses of keys that the same replica had fetched before
  std::vector<std::pair<std::string, std::uint64_t>> errors;  // by reason, most frequent first
  std::vector<Comparison> comparisons;
  std::optional<std::uint64_t> origin_fetches;
  TierKey key;  // by which repeats were told; where it is unknown, they say nothing

  // Filled in by who ran it.
  bool is_key_assumed = true;  // and not the tier's word
  std::string source;          // what was replayed, and to where
  std::chrono::microseconds took{0};
  std::uint64_t skipped = 0;
  std::vector<AccessLog::Skipped> first_skipped;

  // Every request was answered, and all counts agree.
  [[nodiscard]] bool is_good() const noexcept;
};

// `countries` may be null: keys with the country are then told apart by the client's address, and
// count as unknown. A function of values.
[[nodiscard]] Report summarise(std::span<const LogRequest> requests, const Journal& journal,
                               const std::optional<Change>& change,
                               std::shared_ptr<const geo::CountryDatabase> countries,
                               TierKey key = {});

// The share of GETs that were repeats; nullopt where there were none, or the key is unknown.
[[nodiscard]] std::optional<double> best_rate_percent(const Tally& tally, const TierKey& key);

// Compares what the client counted with what the tier says it did between two readings.
void compare(Report& report, std::span<const LogRequest> requests, const Journal& journal,
             const TierFigures& before, const TierFigures& after);

// Tables for people, with a line for each problem.
[[nodiscard]] std::string as_table(const Report& report);
// The same as JSON, indented.
[[nodiscard]] std::string as_json(const Report& report);
// One line per request, tab-separated, with a heading: line, client, method, target, status,
// replica, hit (0 or 1), result. What is absent is `-`.
[[nodiscard]] std::string as_lines(std::span<const LogRequest> requests, const Journal& journal);

}  // namespace ringside::replay
