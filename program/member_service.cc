#include "program/member_service.h"

#include <fmt/format.h>

#include <utility>

#include "program/membership_news.h"
#include "program/state_file.h"

namespace ringside::program {

Result<void> MemberService::apply(const Configuration& next) {
  const std::lock_guard control(control_);
  const auto present = this->membership();
  const bool has_new_state = next.state != configuration_.state;
  auto membership = discovers(next) ? tier::with_scheme(present, next.scheme,
                                                        has_new_state ? next.state : shard::State{})
                                    : reloaded_membership(present, listed(configuration_),
                                                          listed(next), configuration_, next);
  if (!membership) return membership.error();
  const MembershipPointer following = *membership;
  if (auto published = publish(next, *std::move(membership)); !published) return published;
  log_change(present, following, "a reload");
  const std::lock_guard lock(mutex_);
  configuration_ = next;
  return {};
}

Result<MembershipPointer> MemberService::propose(const shard::TopologyRequest& request) {
  const std::lock_guard control(control_);
  if (discovers(configuration_)) return not_ours_to_change(configuration_);
  const auto present = this->membership();
  auto membership = tier::next_membership(*present, request);
  if (!membership) return membership;
  const bool is_followed = configuration_.state_writer && configuration_.state_writer->at;
  if (is_followed && (*membership)->topology->state() != present->topology->state()) {
    return not_ours_to_cut(configuration_);
  }
  return adopt(*std::move(membership), "PUT /topology");
}

Result<MembershipPointer> MemberService::cut(const CutRequest& request) {
  const std::lock_guard control(control_);
  if (!writes_state(configuration_)) return not_ours_to_cut(configuration_);
  const auto present = this->membership();
  auto state = state_after(*present->topology, request);
  if (!state) return state.error();
  auto next = tier::with_scheme(present, present->topology->scheme(), *std::move(state));
  return next ? adopt(*std::move(next), "POST /split") : next;
}

Result<void> MemberService::follow_state(const shard::TopologyRequest& published) {
  const std::lock_guard control(control_);
  const auto present = this->membership();
  if (published.scheme != present->topology->scheme()) {
    return invalid_input(fmt::format("its scheme is {}, and ours is {}; give both the same",
                                     published.scheme, present->topology->scheme()));
  }
  if (!published.state) return {};
  auto next = tier::with_scheme(present, published.scheme, *published.state);
  if (!next) return next.error();
  if (*next == present) return {};
  auto adopted = adopt(*std::move(next), configuration_.state_writer->text());
  return adopted ? Result<void>{} : adopted.error();
}

Result<MembershipPointer> MemberService::adopt(MembershipPointer next, std::string_view by) {
  const auto present = this->membership();
  Configuration kept = configuration_;
  if (auto written = keep_state(kept, *next->topology); !written) return written.error();
  publish(next);
  log_change(present, next, by);
  const std::lock_guard lock(mutex_);
  configuration_ = std::move(kept);
  return next;
}

Result<void> MemberService::follow(const k8s::Roster& roster) {
  const std::lock_guard control(control_);
  const auto present = this->membership();
  const auto membership = discovered_membership(*present, roster, configuration_.scheme);
  if (!membership) return membership.error();
  publish(*membership);
  log_change(present, *membership, "discovery");
  return {};
}

}  // namespace ringside::program
