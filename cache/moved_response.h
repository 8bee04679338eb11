#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/error.h"
#include "cache/cache_key.h"
#include "cache/store.h"
#include "cache/stored_response.h"
#include "cache/uncacheable_keys.h"
#include "http/body.h"
#include "tier/holdings.h"

namespace ringside::cache {

// A stored response as it comes from another replica: as it was stored there, and as old.
struct MovedResponse {
  CacheKey key;  // with its bucket
  std::shared_ptr<const StoredHead> head;
  std::optional<Extent> extent;
  std::string_view body;  // a view into what was read
  Store::Warmth warmth = Store::Warmth::cold;
};

// The bucket is the reader's from here on. Epoch 0: the giver had mere copies.
struct MovedBucket {
  shard::Bucket bucket = 0;
  tier::Epoch epoch = 0;
  // So many the giver knows: what was cut of this one behind them, it gives as well.
  std::size_t known_buckets = shard::bucket_count;
  bool operator==(const MovedBucket&) const = default;
};

// A batch is items one after the other: `R` and numbers on a line, then the texts and the body
// whose sizes they tell; or, on a line, `U BUCKET HASH MILLISECONDS` of a key whose answers can't
// be stored, and for how long that is believed, `B BUCKET EPOCH`, or
// `C BUCKET EPOCH BUCKETS` where the giver knows no more of them. All numbers are in decimal
// digits.

void append_moved(std::string& batch, const UncacheableKeys::Mark& mark, SteadyPoint now);
void append_moved(std::string& batch, const MovedBucket& bucket);

// A batch in the making. Long bodies are not copied into it: it keeps them.
class MovedBatch {
 public:
  // `now` is Clock::resident_now: what is told is for how long it was kept.
  void append(const CacheKey& key, const StoredResponse& response, Store::Warmth warmth,
              TimePoint now);
  void append(const UncacheableKeys::Mark& mark, SteadyPoint now) {
    append_moved(text_, mark, now);
  }
  void append(const MovedBucket& bucket) { append_moved(text_, bucket); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return text_.size() + kept_bytes_; }
  [[nodiscard]] bool is_empty() const noexcept { return size_bytes() == 0; }
  [[nodiscard]] http::Body body() &&;

 private:
  struct Kept {
    std::size_t place = 0;  // in the text, where it belongs
    PiecePointer piece;
  };
  std::string text_;
  std::vector<Kept> kept_;
  std::size_t kept_bytes_ = 0;
};

// Takes the next item off `batch`, which is not empty. `asked`: when the batch was asked for, so
// that what comes is rather older than it was than younger. The Error says that a peer sends what
// is none.
struct AskedAt {
  TimePoint resident;  // by Clock::resident_now
  SteadyPoint steady;
};
using MovedItem = std::variant<MovedResponse, UncacheableKeys::Mark, MovedBucket>;
[[nodiscard]] Result<MovedItem> take_moved(std::string_view& batch, const AskedAt& asked);

}  // namespace ringside::cache
