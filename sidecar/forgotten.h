#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "base/limits.h"

namespace ringside::sidecar {

// What the near caches of all cores must not give any more, told by counts that only rise: one for
// everything, and one for each of a few slots in which URIs fall. An entry is given while the
// counts are those of the moment in which its replica was asked. URIs that share a slot are
// forgotten together, which costs a request to the replica. Thread-safe.
class ForgottenTable {
 public:
  // Of any two moments the same value: nothing that concerns the URI was forgotten between them.
  [[nodiscard]] std::uint64_t count(std::uint64_t uri) const noexcept {
    return std::uint64_t{everything_.load()} << 32U | slot(uri).load();
  }
  void forget(std::uint64_t uri) noexcept { slot(uri).fetch_add(1); }
  void forget_everything() noexcept { everything_.fetch_add(1); }

 private:
  using Count = std::atomic<std::uint32_t>;
  [[nodiscard]] const Count& slot(std::uint64_t uri) const noexcept {
    return slots_[uri % slots_.size()];
  }
  [[nodiscard]] Count& slot(std::uint64_t uri) noexcept { return slots_[uri % slots_.size()]; }

  Count everything_{0};
  std::array<Count, limits::near_forgotten_slots> slots_{};
};

// What a ForgottenTable knows a URI by, under whatever scheme and country it is kept: host in its
// canonical form and path, whose queries are forgotten together: rules may take of a query what
// they like.
[[nodiscard]] inline std::uint64_t forgotten_uri(std::string_view host,
                                                 std::string_view path) noexcept {
  return hash64(host) ^ (hash64(path) * 0x9e3779b97f4a7c15U);
}

}  // namespace ringside::sidecar
