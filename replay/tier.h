#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "http1/admin_client.h"
#include "replay/tier_key.h"

namespace ringside::replay {

// What a tier says that it did, since it started.
struct TierFigures {
  std::uint64_t requests = 0;  // answered by the sidecar
  std::uint64_t hits = 0;      // of them, as metrics::is_hit has it
  std::uint64_t errors = 0;    // of them, answered by the tier itself because nobody could
  std::optional<std::uint64_t>
      fetches_by_metrics;  // counted by the replicas; none: others' processes
  std::optional<std::uint64_t> fetches_by_origin;  // counted by the sample origin; none: another
};

// The figures of /metrics alone.
[[nodiscard]] Result<TierFigures> figures_from_metrics(std::string_view exposition);

// A running tier, through its admin address. Blocks. What the tier says that makes no sense is an
// Error that names the path.
class Tier {
 public:
  // Asks the admin server: method, path, body.
  using Ask = std::function<Result<http::AdminAnswer>(const std::string&, const std::string&,
                                                      const std::string&)>;
  explicit Tier(Ask ask) : ask_(std::move(ask)) {}
  [[nodiscard]] static Tier at(const Endpoint& admin, const std::string& token);

  [[nodiscard]] Result<TierFigures> figures() const;
  [[nodiscard]] Result<TierKey> key() const;
  [[nodiscard]] Result<std::uint32_t> replicas() const;
  [[nodiscard]] Result<void> scale(std::uint32_t replicas) const;
  // True when the tier has that many replicas and every sidecar of it knows them.
  [[nodiscard]] Result<bool> settled(std::uint32_t replicas) const;

 private:
  struct State {
    std::uint32_t replicas;
    bool settled;
  };
  [[nodiscard]] Result<State> state() const;
  Ask ask_;
};

}  // namespace ringside::replay
