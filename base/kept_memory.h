#pragma once

#include <cstddef>

namespace ringside {

// Sanitizers are to see each block's own life, so nothing is kept under them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool keeps_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool keeps_memory = false;
#else
inline constexpr bool keeps_memory = true;
#endif
#else
inline constexpr bool keeps_memory = true;
#endif

// Memory for what comes and goes with each request: coroutine frames, receive buffers. Each thread
// keeps what was given back, by size, for the next ones: a core, which does the same things again
// and again, asks the allocator for nothing once it is warm. At most limits::kept_bytes of a size
// are kept; blocks larger than limits::kept_block_size_bytes are the allocator's.
[[nodiscard]] void* allocate_kept(std::size_t size_bytes);
// On any thread; `size_bytes` as it was asked for.
void free_kept(void* block, std::size_t size_bytes) noexcept;

}  // namespace ringside
