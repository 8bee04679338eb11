#include "program/member_service.h"

#include <utility>

#include "program/membership_news.h"

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
  publish(*membership);
  log_change(present, *membership, "PUT /topology");
  return membership;
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
