#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "shard/member.h"

namespace ringside::shard {

// For a scheme that knows no weights: an Error names the first member whose weight is neither 1 nor
// 0.
[[nodiscard]] Result<void> check_no_weights(std::span<const Member> members,
                                            std::string_view scheme);

}  // namespace ringside::shard
