#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "cache/decision.h"
#include "cache/stalled.h"
#include "cache/transaction.h"
#include "hop/handler.h"
#include "hop/peer_handshake.h"

namespace ringside::cache {

// What a replica makes of the requests of one connection: its half of the life of a request.
class Handler final : public hop::Handler, private Stalled {
 public:
  explicit Handler(CoreState& core);
  // For another request of a connection whose other end is known.
  Handler(CoreState& core, std::shared_ptr<const hop::ProvenPeer> proven);
  ~Handler() override;

  [[nodiscard]] bool serves_hops() const override { return true; }
  [[nodiscard]] bool introduce(const IpAddress& from, const http::RequestHead& request,
                               http::Response& response) override;
  [[nodiscard]] std::shared_ptr<const hop::ProvenPeer> caller() const noexcept override {
    return proven_;
  }
  void know(std::shared_ptr<const hop::ProvenPeer> caller) override { proven_ = std::move(caller); }
  void count(LinkEvent event) override { transaction_.core.sheet.count_link(event); }
  [[nodiscard]] bool trusts_caller() const noexcept override;
  [[nodiscard]] std::unique_ptr<hop::Handler> beside() override;
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
  [[nodiscard]] Decision look_up();
  Task<void> answer_shared(http::Response& response);
  void answer_options(http::Response& response);
  void explain_to_sidecar(http::Response& response);
  [[nodiscard]] bool fetches_for_bucket(const Decision& decision) const;
  Task<std::optional<std::string>> settle_holder(Decision& decision);
  [[nodiscard]] std::optional<std::string> other_holder();
  void name_holder(std::string_view holder, http::Response& response);
  Task<void> purge(http::Response& response);
  [[nodiscard]] std::size_t pinned_bytes() const override;
  void cut() override;

  Transaction transaction_;
  const bool is_connection_;  // not beside another
  hop::PeerDoor door_;
  std::shared_ptr<const hop::ProvenPeer> proven_;  // null: nobody
  IpAddress from_;
  const http::Response* response_ = nullptr;  // while it is stalled
  net::Closable* client_ = nullptr;           // likewise
};

}  // namespace ringside::cache
