#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "http/field_lines.h"
#include "http/head.h"
#include "metrics/core_sheet.h"

namespace ringside::sidecar {

// A few hot answers kept in the sidecar for a moment, one per core: step 9 of the life of a
// request, for routes that ask for it. It judges nothing: the replica said for how long an answer
// may be given again (internal::near_ttl), the route how long at most.
//
// A purge that has been answered must not be undone by an answer that was under way:
//   1. The handler takes purges() before it asks the replica.
//   2. A purge gets every replica's word and then adds 1 to the sidecar's count, on whatever core.
//   3. An answer from before 2 comes to store() with the number of 1, which is not the present one.
//   4. Each core forgets everything when it next looks and finds the count changed.
class NearCache {
 public:
  // The client's, without Age.
  struct KeptResponse {
    int status = 0;
    std::string reason;
    http::FieldLines fields;
    std::string body;
  };
  struct Entry {
    std::shared_ptr<const KeptResponse> response;
    metrics::ShardIndex shard = 0;  // of the replica that gave it
    std::int64_t age_s = 0;         // when it was stored
    SteadyPoint stored;
    SteadyPoint until;
  };

  // `purges` counts the whole sidecar's purges and must outlive the cache.
  NearCache(std::size_t size_bytes, const std::atomic<std::uint64_t>& purges) noexcept
      : limit_bytes_(size_bytes), purges_(purges) {}

  // The entry, while it may be given. The pointer is valid until the next call.
  [[nodiscard]] const Entry* find(const std::string& key, SteadyPoint now);
  // `asked_at` is what purges() was before the replica was asked.
  void store(const std::string& key, Entry entry, std::uint64_t asked_at);
  [[nodiscard]] std::uint64_t purges() const noexcept { return purges_.load(); }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_; }

 private:
  using Order = std::list<std::pair<std::string, Entry>>;  // the least recently used last
  void drop(Order::iterator place);
  // Forgets everything where there was a purge since the last time.
  void heed_purges() noexcept;

  const std::size_t limit_bytes_;
  const std::atomic<std::uint64_t>& purges_;
  std::uint64_t heeded_ = 0;
  std::size_t used_bytes_ = 0;
  Order order_;
  std::unordered_map<std::string_view, Order::iterator> places_;
};

// True for requests that any fresh answer for the URI may satisfy: a GET that says nothing about
// caching, ranges, conditions or credentials.
[[nodiscard]] bool may_be_answered_nearby(const http::RequestHead& request) noexcept;

}  // namespace ringside::sidecar
