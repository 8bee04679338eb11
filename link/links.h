#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/link_event.h"
#include "base/seldom.h"
#include "base/upstream_address.h"
#include "hop/upstream.h"
#include "http1/pool.h"
#include "link/frame.h"
#include "link/link.h"
#include "net/core.h"

namespace ringside::link {

// Where the answer to one request lies. Used again and again, so that it keeps its room.
struct AnswerSpace {
  std::string bytes;
  Answer answer;  // views into them
};

// One core's way to the members of its tier: a link to each that has said that it speaks it, and
// HTTP/1.1. A link is made when an answer tells of it, in the background: until it is there, and
// where there is none, requests go over HTTP/1.1.
class Links final : public hop::Upstreams {
 public:
  // `count` hears of what happens to links; never null.
  Links(net::Core& core, std::function<void(LinkEvent)> count);
  ~Links() override;

  [[nodiscard]] std::unique_ptr<hop::Exchange> exchange() override;
  void set_tls(std::shared_ptr<const net::TlsContext> context) override {
    pool_.set_tls(std::move(context));
  }
  void introduce_as(std::shared_ptr<const hop::PeerIdentity> self) override;
  bool close_idle() override;

  // For exchanges.
  [[nodiscard]] net::Core& core() noexcept { return core_; }
  [[nodiscard]] http::Pool& plain() noexcept { return pool_; }
  void count(LinkEvent event) { count_(event); }
  // A link to that peer with room for a request; null: none.
  [[nodiscard]] std::shared_ptr<Link> find(const UpstreamAddress& address, std::string_view peer);
  // What a peer has answered over HTTP/1.1.
  void learn(const UpstreamAddress& address, std::string_view peer, const http::ResponseHead& head);
  [[nodiscard]] std::unique_ptr<AnswerSpace> take_space();
  void give_back(std::unique_ptr<AnswerSpace> space);

 private:
  struct Row {
    std::shared_ptr<Link> link;  // null: none yet, or not any more
    std::string peer;
    SteadyPoint next_try = SteadyPoint::min();
    bool is_opening = false;
  };
  Task<void> open(UpstreamAddress address, std::string peer);
  Task<Result<std::shared_ptr<Link>>> connect(const UpstreamAddress& address,
                                              std::string_view peer);
  [[nodiscard]] bool is_still_proven(const Link& link) const noexcept;

  net::Core& core_;
  const std::function<void(LinkEvent)> count_;
  log::Seldom complaints_{limits::peer_complaint_interval};
  http::Pool pool_;
  std::shared_ptr<const hop::PeerIdentity> self_;
  std::map<UpstreamAddress, Row> rows_;
  std::vector<std::unique_ptr<AnswerSpace>> spaces_;
};

}  // namespace ringside::link
