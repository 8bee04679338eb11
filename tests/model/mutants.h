#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ringside::model {

// A decision of the cache made wrong, in this program alone: the decision's function is one of
// ours, which does as the real one unless its mutant is chosen.
enum class Mutant {
  none,
  fresh_at_its_end,
  request_max_age_ignored,
  must_revalidate_ignored,
  no_cache_ignored,
  age_forgotten,
  date_ignored,
  s_maxage_ignored,
  vary_ignored,
  no_store_stored,
  private_stored,
  authorized_stored,
  any_tag_matches,
  fields_of_304_lost,
  invalidation_forgotten,
};

struct MutantRow {
  Mutant mutant;
  std::string_view name;
  std::size_t histories;  // within which the model notices
};
[[nodiscard]] std::span<const MutantRow> mutants() noexcept;

// From now on, for all threads.
void choose(Mutant mutant) noexcept;

}  // namespace ringside::model
