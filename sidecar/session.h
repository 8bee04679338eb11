#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http/cache_status.h"
#include "http/head.h"
#include "http1/access_record.h"
#include "http1/connection.h"
#include "metrics/outcome.h"
#include "sidecar/core_state.h"
#include "sidecar/decision.h"
#include "sidecar/forwarding.h"

namespace ringside::sidecar {

// One client's connection from accept to close: the life of a request, again and again. Its strings
// and vectors are reused from request to request.
class Session {
 public:
  Session(CoreState& state, http::Connection& client);
  ~Session();
  Task<void> run();

 private:
  // What is to be counted of the request in hand.
  struct Count {
    metrics::ShardIndex shard = 0;
    metrics::Outcome outcome = metrics::Outcome::error;
    std::uint64_t body_bytes = 0;
  };

  Result<void> look();
  [[nodiscard]] const NearCache::Entry* find_nearby();
  Task<void> answer_nearby(const NearCache::Entry& entry);
  Task<void> answer_from_replica();
  Task<void> relay_answer(Forwarding& forwarding, http::CacheStatus::Forward why);
  Task<void> keep_and_answer(Forwarding& forwarding, Milliseconds ttl, std::uint64_t asked_at);
  Task<void> carry_tunnel(Forwarding& forwarding);
  Task<void> purge();
  Task<void> answer_options();
  // Counts the error; those that another replica made good are counted where that was found.
  Task<void> refuse(const Error& error);
  Task<void> write(std::string_view head, std::string_view body);
  [[nodiscard]] http::CacheStatus own_status(http::CacheStatus::Forward why) const noexcept;
  [[nodiscard]] Milliseconds near_ttl(const http::Fields& fields) const noexcept;
  void begin_record(bool head_was_read);
  void count(SteadyPoint began) noexcept;

  CoreState& state_;
  http::Connection& client_;
  std::shared_ptr<const Snapshot> snapshot_;  // the request's
  http::RequestHead request_;
  Decision decision_;
  std::string near_key_;
  std::string head_;  // scratch for heads that are written
  Count count_;
  http::AccessRecord record_;  // for the access log; where there is none, the status alone
  bool ask_near_cache_ = false;
  bool keep_alive_ = true;
  std::uint32_t requests_ = 0;
};

}  // namespace ringside::sidecar
