#pragma once

#include <cstddef>

namespace ringside {

// Memory of coroutine frames. Each thread keeps what its frames gave back, by size, for the next
// ones: a core, which runs the same few coroutines again and again, asks the allocator for nothing
// once it is warm. At most limits::frames_kept of a size are kept; larger frames than
// limits::frame_size_bytes are the allocator's.
[[nodiscard]] void* allocate_frame(std::size_t size_bytes);
void free_frame(void* frame, std::size_t size_bytes) noexcept;

}  // namespace ringside
