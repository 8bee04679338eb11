#pragma once

namespace ringside {

// Prints the broken invariant with its place and aborts. For our own mistakes only: whatever comes
// from outside is answered with an Error.
[[noreturn]] void crash(const char* what, const char* file, int line) noexcept;

}  // namespace ringside

#define RINGSIDE_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::ringside::crash(#condition, __FILE__, __LINE__))
