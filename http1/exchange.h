#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/kept_memory.h"
#include "base/task.h"
#include "base/upstream_address.h"
#include "hop/upstream.h"
#include "http/head.h"
#include "http1/connection.h"
#include "http1/pool.h"

namespace ringside::http {

// One request on a pooled connection, and its response.
class Exchange final : public hop::Exchange {
 public:
  Exchange(net::Core& core, Pool& pool) noexcept : core_(core), pool_(pool) {}
  // Gives the connection back for the next request where the response was read to its end; closes
  // it where not.
  ~Exchange() override;
  // NOLINTNEXTLINE(misc-new-delete-overloads): it does not know deletes that are told the size
  static void* operator new(std::size_t size_bytes) { return allocate_kept(size_bytes); }
  static void operator delete(void* exchange, std::size_t size_bytes) noexcept {
    free_kept(exchange, size_bytes);
  }

  // On a pooled connection that turns out closed before a byte of the response, a request without
  // content is repeated once on a new one.
  [[nodiscard]] Task<Result<void>> ask(const UpstreamAddress& address,
                                       const hop::UpstreamRequest& request,
                                       const hop::UpstreamLimits& limits) override;
  void give_up() noexcept override;
  [[nodiscard]] const ResponseHead& head() const noexcept override {
    return lease_.connection->response_head();
  }
  [[nodiscard]] ByteStream& stream() noexcept override { return *lease_.connection; }

  // The content.
  [[nodiscard]] std::optional<Result<Pulled>> take() override;
  [[nodiscard]] Task<Result<Pulled>> pull() override;

 private:
  enum class Head { interim, final };
  using Request = hop::UpstreamRequest;
  using Limits = hop::UpstreamLimits;

  Task<Result<void>> send_and_read(const Request& request, const Limits& limits);
  Task<Result<Head>> read_head(const Request& request);
  Task<Result<void>> pass_interim_on(const Request& request);
  Task<Result<void>> tell_to_continue(const Request& request);
  Task<Result<Head>> wait_for_continue(const Request& request, const Limits& limits);
  Task<Result<Head>> send_body(const Request& request, const Limits& limits);
  [[nodiscard]] Error failure(Error error, const Request& request) const;
  [[nodiscard]] Result<Pulled> pulled(const Result<std::string_view>& piece);

  net::Core& core_;
  Pool& pool_;
  Pool::Lease lease_;
  Pool::Opening opening_;
  UpstreamAddress address_;
  std::string_view piece_;
  SteadyPoint body_deadline_ = SteadyPoint::max();
  unsigned interim_heads_ = 0;
  bool interim_given_up_ = false;
  bool body_touched_ = false;
  bool body_sent_ = true;
  bool answered_ = false;
  bool told_to_continue_ = false;
  bool given_up_ = false;
};

}  // namespace ringside::http
