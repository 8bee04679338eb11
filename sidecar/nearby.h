#pragma once

#include <optional>

#include "http/head.h"
#include "http/response.h"
#include "sidecar/decision.h"
#include "sidecar/near_cache.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// Whether a near cache may answer a request: a GET that any fresh answer for the URI satisfies. It
// says nothing about caching, ranges or credentials, and of conditions only those that ask whether
// the client has the answer already (RFC 9110 §13.1.2, §13.1.3).
[[nodiscard]] bool may_be_answered_nearby(const http::RequestHead& request) noexcept;

// One request's dealings with its core's near cache. Belongs to a connection and is used again and
// again.
class Nearby {
 public:
  explicit Nearby(NearCache& cache) noexcept : cache_(cache) {}

  // A new request, once it is known what it asks for. Where its route has no near cache, or it has
  // nothing to do with one, all below do nothing.
  void begin(const http::RequestHead& request, const Decision& decision);

  // What is kept for it; null: its replica is to be asked.
  [[nodiscard]] NearCache::KeptPointer find(const http::RequestHead& request, SteadyPoint now);

  // Whether the request may be given what is kept nearby, and whether something is. Nothing
  // changes.
  [[nodiscard]] bool may_be_given() const noexcept { return may_be_given_; }
  [[nodiscard]] bool has(const http::RequestHead& request, SteadyPoint now) const {
    return may_be_given_ && cache_.peek(key_, request.fields, now) != nullptr;
  }

  // To be called before the replica is asked.
  void ask() noexcept;

  // What the replica's answer is to be kept by; nullopt where it is not to be kept.
  [[nodiscard]] std::optional<NearCache::Terms> terms(const http::ResponseHead& head,
                                                      const Settings& settings,
                                                      SteadyPoint now) const;
  void keep(const http::RequestHead& request, NearCache::KeptPointer response,
            const NearCache::Terms& terms);
  // The answer is not to be kept; what is kept is older.
  void pass(const http::RequestHead& request);

 private:
  NearCache& cache_;
  NearKey key_;
  NearCache::Moment asked_;
  const Route* route_ = nullptr;  // null: it has nothing to do with a near cache
  bool may_be_given_ = false;
};

// Writes what is kept: with its age, and as 304 where the request says that its sender has it.
void give_nearby(const http::RequestHead& request, const NearCache::KeptPointer& kept,
                 SteadyPoint steady_now, TimePoint now, http::Response& response);

}  // namespace ringside::sidecar
