#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "http/field_lines.h"
#include "metrics/core_sheet.h"
#include "sidecar/forgotten.h"
#include "sidecar/frequency_sketch.h"

namespace ringside::sidecar {

// What a near cache knows a request by, but for what a response varies on. Used again and again by
// a connection, so that its string keeps its room.
struct NearKey {
  std::string text;
  std::uint64_t hash = 0;  // of the text
  std::uint64_t uri = 0;   // forgotten_uri
};

// A few hot answers kept in the sidecar for a moment, one per core: step 9 of the life of a
// request, for routes that ask for it. It judges nothing: the replica said for how long an answer
// may be given again (internal::near_ttl), the route how long at most. It keeps what is asked for
// often: see admits().
//
// What is forgotten (a purge that was answered, what an unsafe method has changed) must not be
// undone by an answer that was under way:
//   1. The handler takes a Moment before it asks the replica.
//   2. A purge gets every replica's word and then adds to the ForgottenTable, on whatever core.
//   3. The answer from before 2 comes to store() with 1's count, which is not the present one.
//   4. Each core looks at the count when it finds an entry, and drops what is from before it.
//
// An answer varies as its Vary says (RFC 9111 §4.1): in the place of the key alone then lies a
// signpost with the names, and the answer lies behind it, where the key goes on with what the
// request says in those fields. Not thread-safe.
class NearCache {
 public:
  // An answer as the client gets it, but for Age.
  struct KeptResponse {
    int status = 0;
    std::string reason;
    http::FieldLines fields;
    std::string body;
    metrics::ShardIndex shard = 0;  // of the replica that gave it
    std::int64_t age_s = 0;         // when it was stored
    SteadyPoint stored;
  };
  using KeptPointer = std::shared_ptr<const KeptResponse>;

  // When a replica was asked, among the requests of this core.
  struct Moment {
    std::uint64_t forgotten = 0;
    std::uint64_t number = 0;
  };

  // `forgotten` is the whole sidecar's and must outlive the cache.
  NearCache(std::size_t size_bytes, const ForgottenTable& forgotten)
      : limit_bytes_(size_bytes), forgotten_(forgotten) {}

  // The answer for a request with these fields, while it may be given; null where there is none.
  // Counts the request for what admits() says.
  [[nodiscard]] KeptPointer find(const NearKey& key, const http::Fields& request, SteadyPoint now);

  // What find() would give; nothing changes.
  [[nodiscard]] KeptPointer peek(const NearKey& key, const http::Fields& request,
                                 SteadyPoint now) const;

  // To be taken before a replica is asked.
  [[nodiscard]] Moment moment(const NearKey& key) noexcept {
    return {forgotten_.count(key.uri), ++moments_};
  }

  // Whether an answer of this size is worth its place: its key has been asked for
  // limits::near_admission_requests times of late, and where others have to go for it, more often
  // than each of them.
  [[nodiscard]] bool admits(const NearKey& key, std::size_t size_bytes, SteadyPoint now) const;

  // What store() keeps an answer by.
  struct Terms {
    std::vector<std::string> vary;  // http::vary_names of the answer
    SteadyPoint until;
    Moment asked;
  };
  // Keeps an answer to a request with these fields, unless it was asked for before what is kept
  // was, or before something was forgotten that it may have been.
  void store(const NearKey& key, const http::Fields& request, KeptPointer response,
             const Terms& terms);

  // Drops what is kept for such a request, where it was asked for before `asked`: a later answer
  // has been seen that is not to be kept.
  void drop_older(const NearKey& key, const http::Fields& request, const Moment& asked);

  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_; }

 private:
  struct Entry {
    std::string place;  // the key's text, or that and the variant
    std::uint64_t hash = 0;
    std::uint64_t uri = 0;
    KeptPointer response;           // null: a signpost
    std::vector<std::string> vary;  // of a signpost
    SteadyPoint until;
    Moment asked;
    [[nodiscard]] std::size_t cost_bytes() const noexcept;
  };
  using Order = std::list<Entry>;  // the least recently used last
  struct Hash {
    std::size_t operator()(std::string_view text) const noexcept { return hash64(text); }
  };

  // The entry at that place, if it was not forgotten since.
  [[nodiscard]] Entry* look(std::string_view place);
  // Where the answer for such a request lies: the key's text, or what a signpost there makes of it.
  [[nodiscard]] Entry* follow(const NearKey& key, const http::Fields& request);
  void put(Entry entry);
  void drop(Order::iterator place);

  const std::size_t limit_bytes_;
  const ForgottenTable& forgotten_;
  FrequencySketch frequency_{limits::near_keys_counted};
  std::uint64_t moments_ = 0;
  std::size_t used_bytes_ = 0;
  std::string variant_place_;  // scratch
  Order order_;
  std::unordered_map<std::string_view, Order::iterator, Hash> places_;
};

}  // namespace ringside::sidecar
