#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tier/membership.h"

namespace ringside::sidecar {

// What one replica has not confirmed of the purges and invalidations of this sidecar, as a number
// that rises with each. Whoever is asked anything while it has news is told them with that, and
// empties its store before it answers. Shared by the cores; docs/decisions/missed-purges.md.
//
//   confirmed all --miss()--> has news --heeded(), of a probe that brought them--> confirmed all
class Missed {
 public:
  // `mark` and `purges` as in MissedTable.
  Missed(std::string_view mark, const std::atomic<std::uint64_t>& purges)
      : mark_(mark), purges_(purges) {}

  void miss() noexcept { missed_.fetch_add(1); }

  struct News {
    std::uint64_t number;
    std::string text;    // the value of internal::missed
    std::string purges;  // of internal::purges_done with it
  };
  [[nodiscard]] bool has_news() const noexcept { return missed_.load() > heeded_.load(); }
  [[nodiscard]] std::optional<News> news() const;
  // The replica has emptied its store because of these. What it has missed since is still news.
  void heeded(std::uint64_t number) noexcept;

 private:
  const std::string mark_;
  const std::atomic<std::uint64_t>& purges_;
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> heeded_{0};
};

using MissedPointers = std::vector<std::shared_ptr<Missed>>;

// Of every replica by its name, whatever its address: also of those that are no members at present,
// who miss everything until they are members again. Thread-safe.
class MissedTable {
 public:
  // `mark` tells this sidecar, and this run of it, from all others. `purges`: how many it has
  // numbered; outlives the table and its rows.
  MissedTable(std::string_view mark, const std::atomic<std::uint64_t>& purges)
      : mark_(mark), purges_(purges) {}

  // Of the members, in their order.
  [[nodiscard]] MissedPointers follow(const tier::Membership& membership);
  // A purge or an invalidation has gone to `asked`, and so to nobody else.
  void miss_all_but(const MissedPointers& asked);

 private:
  const std::string mark_;
  const std::atomic<std::uint64_t>& purges_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Missed>, std::less<>> rows_;
};

}  // namespace ringside::sidecar
