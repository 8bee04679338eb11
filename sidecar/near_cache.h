#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "http/head.h"
#include "metrics/core_sheet.h"

namespace ringside::sidecar {

// A few hot answers kept in the sidecar for a moment, one per core: step 6 of the life of a request,
// for routes that ask for it. It judges nothing: the replica said for how long an answer may be given
// again (internal::near_ttl), the route how long at most.
class NearCache {
 public:
  struct Entry {
    std::string head;  // the client's, without Age and without its end
    std::shared_ptr<const std::string> body;
    metrics::ShardIndex shard = 0;  // of the replica that gave it
    std::int64_t age_s = 0;  // when it was stored
    SteadyPoint stored;
    SteadyPoint until;
  };

  explicit NearCache(std::size_t size_bytes) noexcept : limit_bytes_(size_bytes) {}

  // The entry, while it may be given. The pointer is valid until the next call.
  [[nodiscard]] const Entry* find(const std::string& key, SteadyPoint now);
  void store(const std::string& key, Entry entry);
  void clear() noexcept;
  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_; }

 private:
  using Order = std::list<std::pair<std::string, Entry>>;  // the least recently used last
  void drop(Order::iterator place);

  const std::size_t limit_bytes_;
  std::size_t used_bytes_ = 0;
  Order order_;
  std::unordered_map<std::string_view, Order::iterator> places_;
};

// True for requests that any fresh answer for the URI may satisfy: a GET that says nothing about
// caching, ranges, conditions or credentials.
[[nodiscard]] bool may_be_answered_nearby(const http::RequestHead& request) noexcept;

}  // namespace ringside::sidecar
