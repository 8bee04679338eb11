#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hop/handler.h"
#include "http/cache_status.h"
#include "http/head.h"
#include "metrics/outcome.h"
#include "sidecar/core_state.h"
#include "sidecar/decision.h"
#include "sidecar/nearby.h"
#include "sidecar/owners.h"

namespace ringside::sidecar {

// What a sidecar makes of the requests of one connection: the life of a request. Its strings and
// vectors are used again and again.
class Handler final : public hop::Handler {
 public:
  explicit Handler(CoreState& core);
  ~Handler() override;

  [[nodiscard]] bool expects_proxy_header(const IpAddress& from) const override;
  void begin(const IpAddress& from) override;
  [[nodiscard]] std::uint32_t requests_per_connection() const override;
  [[nodiscard]] Task<void> answer(http::RequestHead& request, http::Caller& caller,
                                  http::Response& response) override;
  void refuse(const Error& error, http::Response& response) override;
  void sent(const hop::Sent& sent) override;
  [[nodiscard]] hop::AccessNotes access_notes() const override;

 private:
  [[nodiscard]] bool may_be_rare();
  Result<void> look(http::RequestHead& request, const http::Caller& caller);
  Task<void> answer_from_owners(const http::RequestHead& request, http::Caller& caller,
                                http::Response& response);
  void relay(std::unique_ptr<hop::Exchange> exchange, http::CacheStatus::Forward why,
             http::Response& response);
  Task<void> keep_and_give(const http::RequestHead& request,
                           std::unique_ptr<hop::Exchange> exchange, const NearCache::Terms& terms,
                           http::Response& response);
  void begin_response(const http::ResponseHead& head, http::CacheStatus::Forward why,
                      http::Response& response) const;
  Task<void> purge(http::Response& response);
  [[nodiscard]] http::CacheStatus own_status(http::CacheStatus::Forward why) const noexcept;

  CoreState& core_;
  std::shared_ptr<const Snapshot> snapshot_;  // the request's
  Decision decision_;
  Nearby nearby_;
  http::FieldLines upstream_fields_;  // scratch
  std::optional<shard::MemberIndex> answered_by_;
  metrics::ShardIndex shard_ = 0;
  metrics::Outcome outcome_ = metrics::Outcome::error;
  bool is_from_exchange_ = false;  // a failure on the way is counted
};

}  // namespace ringside::sidecar
