#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tests/keys/chain.h"

namespace ringside::keys {

// A request of somebody, made of what is often written and of what tricks caches.
struct Asked {
  std::string head;
  std::string client;
};
[[nodiscard]] Asked make_request(std::uint32_t seed);

// Requests, one after the other, and what is held against them:
// - both halves follow the same route;
// - two with equal keys have equal routes and shard keys, and reach the origin with equal bytes in
//   everything that may change its answer (echo);
// - the route whose rules are followed is that of the path as the origin reads it.
class Trial {
 public:
  // Empty: nothing.
  [[nodiscard]] std::string objection(const Asked& asked);
  [[nodiscard]] std::size_t shared() const noexcept { return shared_; }

 private:
  struct First {
    std::string head;
    std::string shard_key;
    std::string echo;
    std::size_t route = 0;
  };
  Chain chain_;
  std::map<std::string, First> firsts_;  // by key
  std::size_t shared_ = 0;               // requests whose keys others had before
};

}  // namespace ringside::keys
