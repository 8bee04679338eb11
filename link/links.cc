#include "link/links.h"

#include <fmt/format.h>

#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "http/internal_fields.h"
#include "link/exchange.h"
#include "link/switch.h"

namespace ringside::link {
namespace {

constexpr std::size_t spaces_kept = 64;

}  // namespace

Links::Links(net::Core& core, std::function<void(LinkEvent)> count)
    : core_(core), count_(std::move(count)), pool_(core, ErrorSource::peer) {}

Links::~Links() = default;

std::unique_ptr<hop::Exchange> Links::exchange() { return std::make_unique<Exchange>(*this); }

bool Links::is_still_proven(const Link& link) const noexcept {
  const auto& proven = link.lease().proven;
  return self_ == nullptr || (proven != nullptr && self_->keys->has(proven->key));
}

void Links::introduce_as(std::shared_ptr<const hop::PeerIdentity> self) {
  self_ = std::move(self);
  pool_.introduce_as(self_);
  for (auto& [address, row] : rows_) {
    if (row.link && !is_still_proven(*row.link)) row.link->retire();
  }
}

bool Links::close_idle() {
  const bool keeps = pool_.close_idle();
  const SteadyPoint oldest = core_.steady_now() - limits::upstream_idle_timeout;
  std::erase_if(rows_, [&](const auto& entry) {
    const Row& row = entry.second;
    const auto since = row.link ? row.link->idle_since() : std::nullopt;
    if (since && *since <= oldest) row.link->retire();
    return !row.link && !row.is_opening && row.next_try <= core_.steady_now();
  });
  return keeps || !rows_.empty();
}

std::shared_ptr<Link> Links::find(const UpstreamAddress& address, std::string_view peer) {
  const auto found = rows_.find(address);
  if (found == rows_.end() || !found->second.link || found->second.peer != peer) return nullptr;
  Link& link = *found->second.link;
  // The name may stand for another address by now.
  if (link.lease().pooled_until <= core_.steady_now()) link.retire();
  return link.has_room() ? found->second.link : nullptr;
}

void Links::learn(const UpstreamAddress& address, std::string_view peer,
                  const http::ResponseHead& head) {
  if (!head.fields.has(http::internal::link) || core_.draining() || address.tls) return;
  const auto found = rows_.find(address);
  if (found == rows_.end() && rows_.size() >= limits::links_per_core) return;
  Row& row = found != rows_.end() ? found->second : rows_[address];
  if (row.link && row.peer != peer) row.link->retire();
  const bool has_one = row.link && !row.link->is_retired();
  if (has_one || row.is_opening || core_.steady_now() < row.next_try) return;
  row.is_opening = true;
  core_.spawn(open(address, std::string(peer)));
}

Task<Result<std::shared_ptr<Link>>> Links::connect(const UpstreamAddress& address,
                                                   std::string_view peer) {
  const SteadyPoint deadline = core_.steady_now() + limits::connect_timeout;
  auto lease = co_await pool_.connect(address, deadline, peer);
  if (!lease) co_return lease.error();
  lease->connection->set_deadline(deadline);
  const auto switched = co_await switch_to_link(*lease->connection, peer);
  if (!switched) co_return switched.error();
  co_return std::make_shared<Link>(core_, *std::move(lease));
}

Task<void> Links::open(UpstreamAddress address, std::string peer) {
  auto connected = co_await connect(address, peer);
  Row& row = rows_[address];  // rows that are opening stay
  row.is_opening = false;
  row.next_try = core_.steady_now() + limits::link_pause;
  if (!connected) co_return;
  const std::shared_ptr<Link> link = *std::move(connected);
  row.link = link;
  row.peer = peer;
  if (core_.draining() || !is_still_proven(*link)) link->retire();
  count_(LinkEvent::opened);
  const Error end = co_await link->run();
  count_(LinkEvent::closed);
  if (const auto found = rows_.find(address); found != rows_.end() && found->second.link == link) {
    found->second.link = nullptr;
  }
  if (end.kind != ErrorKind::malformed) co_return;
  count_(LinkEvent::faulty);
  if (const auto held_back = complaints_.next(core_.steady_now())) {
    log::warning("the link to {} at {} is closed: {}{}", peer, address.endpoint.text(), end.message,
                 *held_back == 0 ? "" : fmt::format(" ({} such lines before)", *held_back));
  }
}

std::unique_ptr<AnswerSpace> Links::take_space() {
  if (spaces_.empty()) return std::make_unique<AnswerSpace>();
  auto space = std::move(spaces_.back());
  spaces_.pop_back();
  return space;
}

void Links::give_back(std::unique_ptr<AnswerSpace> space) {
  const bool is_small = space->bytes.capacity() <= limits::kept_block_size_bytes;
  if (is_small && spaces_.size() < spaces_kept) spaces_.push_back(std::move(space));
}

}  // namespace ringside::link
