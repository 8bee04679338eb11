#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "shard/topology.h"
#include "tier/buckets.h"

namespace ringside::tier {

// One start of a replica: a random number, never 0. Each is born empty.
using Incarnation = std::uint64_t;

// How often the authority over a bucket was taken. The higher one wins. 0: no authority.
using Epoch = std::uint32_t;

// Which state of a replica's holdings somebody knows. 0, 0: none.
struct HoldingsVersion {
  Incarnation incarnation = 0;
  std::uint64_t number = 0;  // grows with each change, anew with each incarnation
  bool operator==(const HoldingsVersion&) const = default;
};

// What the numbers of buckets mean (shard::Topology::numbering), and how many there are.
struct Numbers {
  std::uint64_t meaning = 0;
  std::size_t buckets = shard::bucket_count;
  bool operator==(const Numbers&) const = default;
};

// Over which buckets a replica has the authority: it alone asks the origin for them. Of others it
// may have mere copies: what it stored before it lost the authority, and nobody has taken yet.
// Published whole; what a replica holds is asked and not remembered.
struct Holdings {
  HoldingsVersion version;
  std::vector<Epoch> epochs;   // by bucket, shard::bucket_count of them; empty: no authority at all
  std::vector<bool> copies{};  // likewise: where it has copies and no authority; empty: nowhere
  bool is_draining = false;    // it takes nothing any more
  std::vector<Peer> leavers{};  // that it hears
  Numbers numbers{};            // of the buckets that it knows

  [[nodiscard]] Epoch epoch(shard::Bucket bucket) const noexcept {
    return epochs.empty() ? 0 : epochs[bucket];
  }
  [[nodiscard]] bool has_copies(shard::Bucket bucket) const noexcept {
    return !copies.empty() && copies[bucket];
  }
  // Whether it has, or may have, anything stored of the bucket.
  [[nodiscard]] bool has(shard::Bucket bucket) const noexcept {
    return epoch(bucket) > 0 || has_copies(bucket);
  }
  bool operator==(const Holdings&) const = default;
};

// As peers send them: a line with the version, `numbers MEANING BUCKETS` where they are not those
// of schemes without a state, `draining` on a line of its own where that is so, `leaver NAME
// ADDRESS` for each of those, then a line for each run of buckets that have the same epoch, in
// ascending order: `FIRST LAST EPOCH`, all in decimal digits; of copies, epoch 0.
[[nodiscard]] std::string to_text(const Holdings& holdings);
// An Error says which line is none. `text` is as large as limits::holdings_size_bytes at most.
[[nodiscard]] Result<Holdings> parse_holdings(std::string_view text);

// `INCARNATION NUMBER`
[[nodiscard]] std::string to_text(const HoldingsVersion& version);
[[nodiscard]] Result<HoldingsVersion> parse_holdings_version(std::string_view text);

}  // namespace ringside::tier
