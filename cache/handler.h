#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "cache/decision.h"
#include "cache/missed_purges.h"
#include "cache/stalled.h"
#include "cache/transaction.h"
#include "hop/handler.h"
#include "hop/peer_handshake.h"

namespace ringside::cache {

// What a replica makes of the requests of one connection: its half of the life of a request.
class Handler final : public hop::Handler, private Stalled {
 public:
  explicit Handler(CoreState& core);
  ~Handler() override;

  [[nodiscard]] bool serves_hops() const override { return true; }
  [[nodiscard]] bool introduce(const IpAddress& from, const http::RequestHead& request,
                               http::Response& response) override;
  [[nodiscard]] bool knows_caller() const noexcept override { return door_.proven() != nullptr; }
  void begin(const IpAddress& from) override;
  [[nodiscard]] std::uint32_t requests_per_connection() const override;
  [[nodiscard]] Task<void> answer(http::RequestHead& request, http::Caller& caller,
                                  http::Response& response) override;
  void refuse(const Error& error, http::Response& response) override;
  void stalled(const http::Response& response, net::Closable& client) override;
  void resumed() override;
  void sent(const hop::Sent& sent) override;
  [[nodiscard]] hop::AccessNotes access_notes() const override;

 private:
  [[nodiscard]] bool is_from_member() const noexcept;
  void complain(const IpAddress& of, std::string_view what);
  Result<void> look();
  // That this replica has missed something.
  [[nodiscard]] std::optional<MissedPurges::News> told_by_sidecar() const;
  [[nodiscard]] Decision look_up();
  Task<void> answer_shared(http::Response& response);
  void answer_options(http::Response& response);
  Task<void> purge(http::Response& response);
  [[nodiscard]] std::size_t pinned_bytes() const override;
  void cut() override;

  Transaction transaction_;
  hop::PeerDoor door_;
  IpAddress from_;
  const http::Response* response_ = nullptr;  // while it is stalled
  net::Closable* client_ = nullptr;           // likewise
};

}  // namespace ringside::cache
