#include "metrics/outcome.h"

#include <algorithm>
#include <array>

namespace ringside::metrics {
namespace {

constexpr std::array<std::string_view, outcome_count> names = {
    "hit", "miss", "stale", "revalidated", "peer_fill", "collapsed", "bypass", "error"};

}  // namespace

std::string_view name(Outcome outcome) noexcept { return names[static_cast<std::size_t>(outcome)]; }

std::optional<Outcome> outcome_from(std::string_view text) noexcept {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Outcome>(found - names.begin());
}

}  // namespace ringside::metrics
