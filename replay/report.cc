#include "replay/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"
#include "http/target.h"

namespace ringside::replay {
namespace {

// What a tier's cache key is made of, as far as it can be seen from here.
std::uint64_t cache_key_of(const LogRequest& request, std::string_view place) {
  http::Target target;
  const auto normalised = http::normalise_target(request.target, target);
  return hash64(fmt::format("{}\n{}", place, normalised ? target.text() : request.target));
}

// Numbers count as people count: cache-2 before cache-10.
bool before_in_table(const NamedTally& a, const NamedTally& b) {
  return std::pair(a.name.size(), a.name) < std::pair(b.name.size(), b.name);
}

// Goes through a run once, in the order of sending.
class Summary {
 public:
  Summary(const Journal& journal, const std::optional<Change>& change,
          std::shared_ptr<const geo::CountryDatabase> countries, TierKey key)
      : journal_(journal),
        change_(change),
        has_countries_(countries != nullptr),
        memo_(std::move(countries)),
        caches_(journal.caches.size()),
        newcomers_(find_newcomers()) {
    report_.change = change;
    report_.key = std::move(key);
    if (report_.key.unknown.empty() && report_.key.has_country && !has_countries_) {
      report_.key.unknown =
          fmt::format("the shard key {} has the country; give --geo", report_.key.text);
    }
    if (change) {
      report_.moves.emplace();
      report_.phases = {{"warm-up", {}}, {"before", {}}, {"during", {}}, {"after", {}}};
    }
  }

  void add(std::uint64_t index, const LogRequest& request, const Reply& reply) {
    const geo::Country country = memo_.find(request.client);
    bool is_repeat = false;
    if (request.method == "GET" && !reply.is_error() && reply.status != 0) {
      is_repeat =
          follow(keys_[cache_key_of(request, place_of(request, country))], phase_of(index), reply);
    }
    count(report_.all, request, reply, is_repeat);
    if (change_) count(report_.phases[phase_of(index)].tally, request, reply, is_repeat);
    if (reply.cache != Reply::no_cache) count(caches_[reply.cache], request, reply, is_repeat);
    if (has_countries_) count(countries_[country.index()], request, reply, is_repeat);
  }

  Report finish() {
    for (std::size_t i = 0; i < caches_.size(); ++i) {
      report_.caches.push_back({journal_.caches[i], caches_[i]});
    }
    std::sort(report_.caches.begin(), report_.caches.end(), before_in_table);
    for (auto& [index, tally] : countries_) {
      const std::string code{static_cast<char>('A' + index / 26),
                             static_cast<char>('A' + index % 26)};
      report_.countries.push_back({code, tally});
    }
    std::sort(report_.countries.begin(), report_.countries.end(),
              [](const NamedTally& a, const NamedTally& b) {
                return std::pair(b.tally.requests, a.name) < std::pair(a.tally.requests, b.name);
              });
    report_.errors.assign(journal_.errors.begin(), journal_.errors.end());
    std::stable_sort(report_.errors.begin(), report_.errors.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return std::move(report_);
  }

 private:
  enum Phase : std::size_t { warm_up, before, during, after };

  // What became of one key so far.
  struct Key {
    std::uint16_t seen_before = Reply::no_cache;  // its replica before the change
    std::uint16_t fetched_by = Reply::no_cache;   // the replica of its last miss
    bool was_asked = false;
    bool seen_after = false;
  };

  // What of the key is in no target.
  [[nodiscard]] std::string place_of(const LogRequest& request, const geo::Country& country) const {
    const bool by_country = report_.key.has_country && has_countries_;
    const bool by_address = report_.key.has_address || report_.key.has_country != by_country;
    return (by_country ? std::string(country.code()) : "") +
           (by_address ? request.client.text() : "");
  }

  [[nodiscard]] std::size_t phase_of(std::uint64_t index) const {
    if (!change_) return warm_up;
    if (index < change_->before) return warm_up;
    if (index < change_->during) return before;
    return index < change_->after ? during : after;
  }

  // Replicas that first answered after the change had begun.
  [[nodiscard]] std::set<std::uint16_t> find_newcomers() const {
    std::set<std::uint16_t> found;
    if (!change_) return found;
    for (std::size_t i = 0; i < journal_.caches.size(); ++i) {
      found.insert(static_cast<std::uint16_t>(i));
    }
    for (std::uint64_t i = 0; i < change_->during && i < journal_.replies.size(); ++i) {
      found.erase(journal_.replies[static_cast<std::size_t>(i)].cache);
    }
    return found;
  }

  // Follows a key through the run. True: it had been asked for before.
  bool follow(Key& key, std::size_t phase, const Reply& reply) {
    const bool is_repeat = std::exchange(key.was_asked, true);
    if (reply.cache == Reply::no_cache) return is_repeat;
    if (reply.outcome == metrics::Outcome::miss) {
      if (key.fetched_by == reply.cache) ++report_.misses_again;
      const bool by_another = key.fetched_by != Reply::no_cache && key.fetched_by != reply.cache;
      if (by_another && report_.moves) ++report_.moves->fetched_again;
      key.fetched_by = reply.cache;
    }
    if (!change_ || phase == during) return is_repeat;
    if (phase != after) {
      key.seen_before = reply.cache;
    } else if (key.seen_before != Reply::no_cache && !std::exchange(key.seen_after, true)) {
      ++report_.moves->keys;
      if (key.seen_before == reply.cache) return is_repeat;
      ++report_.moves->moved;
      if (!newcomers_.contains(reply.cache)) ++report_.moves->elsewhere;
    }
    return is_repeat;
  }

  static void count(Tally& tally, const LogRequest& request, const Reply& reply, bool is_repeat) {
    ++tally.requests;
    if (reply.is_error()) ++tally.errors;
    if (reply.status == 0) return;
    tally.latency.add(reply.latency_us);
    if (request.method != "GET" || reply.is_error()) return;
    ++tally.gets;
    if (reply.is_hit()) ++tally.hits;
    if (is_repeat) ++tally.repeats;
  }

  const Journal& journal_;
  const std::optional<Change> change_;
  const bool has_countries_;
  geo::CountryMemo memo_;
  std::vector<Tally> caches_;
  std::map<std::size_t, Tally> countries_;  // by geo::Country::index
  std::unordered_map<std::uint64_t, Key> keys_;
  const std::set<std::uint16_t> newcomers_;
  Report report_;
};

std::optional<double> percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<double> hit_rate_percent(const Tally& tally) {
  return percent(tally.hits, tally.gets);
}
std::optional<double> best_rate_percent(const Tally& tally, const TierKey& key) {
  return key.unknown.empty() ? percent(tally.repeats, tally.gets) : std::nullopt;
}

bool Report::is_good() const noexcept {
  return all.errors == 0 && std::all_of(comparisons.begin(), comparisons.end(),
                                        [](const Comparison& one) { return one.agrees(); });
}

Report summarise(std::span<const LogRequest> requests, const Journal& journal,
                 const std::optional<Change>& change,
                 std::shared_ptr<const geo::CountryDatabase> countries, TierKey key) {
  RINGSIDE_CHECK(requests.size() == journal.replies.size());
  Summary summary(journal, change, std::move(countries), std::move(key));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    summary.add(i, requests[i], journal.replies[i]);
  }
  return summary.finish();
}

void compare(Report& report, std::span<const LogRequest> requests, const Journal& journal,
             const TierFigures& before, const TierFigures& after) {
  RINGSIDE_CHECK(requests.size() == journal.replies.size());
  std::uint64_t answers = 0;
  std::uint64_t hits = 0;
  for (const Reply& reply : journal.replies) {
    if (reply.status != 0) ++answers;
    if (reply.is_hit()) ++hits;
  }
  report.comparisons = {
      {"answers", "the client", answers, after.requests - before.requests},
      {"hits", "the client", hits, after.hits - before.hits},
      {"errors", "the client", report.all.errors, after.errors - before.errors},
  };
  if (after.fetches_by_metrics && before.fetches_by_metrics) {
    report.origin_fetches = *after.fetches_by_metrics - *before.fetches_by_metrics;
  }
  if (!after.fetches_by_origin || !before.fetches_by_origin) return;
  const std::uint64_t counted = *after.fetches_by_origin - *before.fetches_by_origin;
  if (report.origin_fetches) {
    report.comparisons.push_back({"origin fetches", "the origin", counted, *report.origin_fetches});
  }
  report.origin_fetches = counted;
}

}  // namespace ringside::replay
