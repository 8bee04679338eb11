#pragma once

#include <array>
#include <string_view>

// What `detail` of Cache-Status says beside why a response was not stored (the names of
// Storability). docs/cache-status.md has a row for each, which a test asks for.
namespace ringside::cache::detail {

inline constexpr std::string_view origin_failed = "origin-failed";  // so a stale one was given
inline constexpr std::string_view peer_fill = "peer-fill";          // from the key's holder
inline constexpr std::array all{origin_failed, peer_fill};

}  // namespace ringside::cache::detail
