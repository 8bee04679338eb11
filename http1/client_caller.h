#pragma once

#include "base/limits.h"
#include "http/caller.h"
#include "http1/connection.h"

namespace ringside::http {

// Who is at the other end of a connection that brought a request.
class ClientCaller final : public Caller {
 public:
  explicit ClientCaller(Connection& client,
                        Milliseconds io_timeout = limits::client_io_timeout) noexcept
      : client_(client), io_timeout_(io_timeout) {}

  [[nodiscard]] const IpAddress& address() const noexcept override { return client_.remote(); }
  [[nodiscard]] std::optional<Result<Pulled>> take() override;
  [[nodiscard]] Task<Result<Pulled>> pull() override;
  void interrupt() noexcept override { client_.interrupt(); }
  [[nodiscard]] Task<Result<void>> tell(const ResponseHead& interim, Milliseconds timeout) override;
  void give_up() noexcept override;

 private:
  [[nodiscard]] Result<Pulled> pulled(const Result<std::string_view>& piece);

  Connection& client_;
  const Milliseconds io_timeout_;
  std::string_view piece_;
};

}  // namespace ringside::http
