#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/error.h"
#include "cache/cache_key.h"
#include "cache/stored_response.h"
#include "tier/holdings.h"

namespace ringside::cache {

// A stored response as it comes from another replica: as it was stored there, and as old.
struct MovedResponse {
  CacheKey key;  // with its bucket
  std::shared_ptr<const StoredHead> head;
  std::optional<Extent> extent;
  std::string_view body;  // a view into what was read
};

// The bucket is the reader's from here on. Epoch 0: the giver had mere copies.
struct MovedBucket {
  shard::Bucket bucket = 0;
  tier::Epoch epoch = 0;
  bool operator==(const MovedBucket&) const = default;
};

// A batch is items one after the other: `R` and numbers on a line, then the texts and the body
// whose sizes they tell; or `B BUCKET EPOCH` on a line. All numbers are in decimal digits.

// `now` is Clock::resident_now: what is told is for how long it was kept.
void append_moved(std::string& batch, const CacheKey& key, const StoredResponse& response,
                  TimePoint now);
void append_moved(std::string& batch, const MovedBucket& bucket);

// Takes the next item off `batch`, which is not empty. `asked`: when the batch was asked for, by
// Clock::resident_now, so that what comes is rather older than it was than younger. The Error says
// that a peer sends what is none.
using MovedItem = std::variant<MovedResponse, MovedBucket>;
[[nodiscard]] Result<MovedItem> take_moved(std::string_view& batch, TimePoint asked);

}  // namespace ringside::cache
