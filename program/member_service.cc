#include "program/member_service.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "program/membership_news.h"
#include "program/state_file.h"

namespace ringside::program {

Result<void> MemberService::apply(const Configuration& loaded) {
  const std::lock_guard control(control_);
  const auto present = this->membership();
  const Configuration next = with_kept_state(configuration_, loaded);
  const bool has_new_state = next.state != configuration_.state;
  auto membership = discovers(next) ? tier::with_scheme(present, tier_schemes(next),
                                                        has_new_state ? next.state : shard::State{})
                                    : reloaded_membership(present, listed(configuration_),
                                                          listed(next), configuration_, next);
  if (!membership) return membership.error();
  const MembershipPointer following = *membership;
  if (auto published = publish(next, *std::move(membership)); !published) return published;
  // What is shared is of another scheme, and is not written over before it was followed.
  if (following->topology->scheme() != present->topology->scheme()) shared_version_.clear();
  log_change(present, following, "a reload");
  {
    const std::lock_guard lock(mutex_);
    configuration_ = next;
  }
  members_changed(present);
  return {};
}

Result<MembershipPointer> MemberService::propose(const shard::TopologyRequest& request) {
  const std::lock_guard control(control_);
  if (discovers(configuration_)) return not_ours_to_change(configuration_);
  const auto present = this->membership();
  auto membership = tier::next_membership(*present, request);
  if (!membership) return membership;
  if (auto allowed = check_state(*present->topology, *(*membership)->topology); !allowed) {
    return allowed.error();
  }
  const bool is_followed = configuration_.state_writer && configuration_.state_writer->at;
  if (is_followed && (*membership)->topology->state() != present->topology->state()) {
    return not_ours_to_cut(configuration_);
  }
  return adopt(*std::move(membership), "PUT /topology");
}

// What is written down is one scheme's, and no shard's number means two things.
Result<void> MemberService::check_state(const shard::Topology& present,
                                        const shard::Topology& next) const {
  const auto refused = [](std::string message) {
    return Error{ErrorKind::refused, ErrorSource::client, Retry::no, std::move(message)};
  };
  if (!configuration_.state_writer || present.state().is_empty()) return {};
  if (next.scheme() != present.scheme()) {
    return refused(
        fmt::format("scheme: is {} where one process writes the state; change it in the "
                    "configuration of all",
                    present.scheme()));
  }
  if (!writes_state(configuration_)) return {};
  // An old one would move back what has moved since.
  if (!present.state().table.empty() && next.state().table != present.state().table) {
    return refused(
        "state.table: is another one than that in use; take that of GET /topology, or leave the "
        "state out");
  }
  return check_shards_kept(present, next);
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
  return take(published);
}

Result<void> MemberService::take(const shard::TopologyRequest& published) {
  const auto present = this->membership();
  const std::string source = configuration_.state_writer->text();
  if (published.scheme != present->topology->scheme()) {
    return invalid_input(fmt::format(
        "its scheme is {}, and ours is {}; give both the same{}", published.scheme,
        present->topology->scheme(),
        shared_state_ == nullptr
            ? ""
            : fmt::format(", or take the key {} out of the ConfigMap", k8s::config_map_key)));
  }
  if (!published.state || *published.state == present->topology->state()) return {};
  auto next = tier::with_scheme(present, published.scheme, *published.state);
  if (!next) return next.error();
  if (*next == present) return {};
  if (present->size() > 0 && !(*next)->topology->extends(*present->topology)) {
    log::warning(
        "the shards that {} has do not come of those that were known: what is stored may have to "
        "be fetched again",
        source);
  }
  publish(*next);
  log_change(present, *next, source);
  is_table_due_ = false;
  const std::lock_guard lock(mutex_);
  if (shared_state_ != nullptr) configuration_.state = *published.state;
  return {};
}

void MemberService::share_state(SharedState* shared) {
  const std::lock_guard control(control_);
  shared_state_ = shared;
}

// 1. A cut is written: the version in use becomes another one.
// 2. What was read before, and comes now, is older than what is in use: it is not taken.
Result<void> MemberService::follow_shared() {
  std::unique_lock control(control_);
  SharedState* const shared = shared_state_;
  const std::string before = shared_version_;
  control.unlock();
  auto read = shared->read();
  if (!read) return read.error();
  control.lock();
  if (shared_version_ != before) return {};
  if (!read->state) {
    shared_version_ = std::move(read->version);
    return write_shared(*membership()->topology);
  }
  shard::TopologyRequest published;
  published.scheme = read->state->scheme;
  published.state = std::move(read->state->state);
  if (is_behind(published)) {  // it was made anew, by a process that had not heard of the last cut
    shared_version_ = std::move(read->version);
    return write_shared(*membership()->topology);
  }
  auto taken = take(published);
  if (taken) shared_version_ = std::move(read->version);
  return taken;
}

bool MemberService::is_behind(const shard::TopologyRequest& published) const {
  const auto present = this->membership();
  if (published.scheme != present->topology->scheme()) return false;
  if (*published.state == present->topology->state()) return false;
  const auto theirs = tier::with_scheme(present, published.scheme, *published.state);
  return theirs && present->topology->extends(*(*theirs)->topology) &&
         present->topology->state().shards.size() > published.state->shards.size();
}

Result<void> MemberService::write_shared(const shard::Topology& next) {
  if (next.state().is_empty()) return {};
  auto version = shared_state_->write({std::string(next.scheme()), next.state()}, shared_version_);
  if (!version) return version.error();
  shared_version_ = *std::move(version);
  return {};
}

Result<void> MemberService::keep(Configuration& kept, const shard::Topology& next) {
  if (shared_state_ == nullptr) return keep_state(kept, next);
  // Other members of the same shards are nobody else's concern.
  if (next.state().is_empty() || next.state() == membership()->topology->state()) return {};
  auto written = write_shared(next);
  if (written) kept.state = next.state();
  return written;
}

Result<MembershipPointer> MemberService::adopt(MembershipPointer next, std::string_view by) {
  const auto present = this->membership();
  Configuration kept = configuration_;
  if (auto written = keep(kept, *next->topology); !written) return written.error();
  publish(next);
  log_change(present, next, by);
  {
    const std::lock_guard lock(mutex_);
    configuration_ = std::move(kept);
  }
  members_changed(present);
  return this->membership();
}

Result<void> MemberService::follow(const k8s::Roster& roster) {
  const std::lock_guard control(control_);
  const auto present = this->membership();
  const auto membership = discovered_membership(*present, roster, tier_schemes(configuration_));
  if (!membership) return membership.error();
  publish(*membership);
  log_change(present, *membership, "discovery");
  members_changed(present);
  return {};
}

void MemberService::members_changed(const MembershipPointer& before) {
  const auto present = this->membership();
  if (present->topology->members() == before->topology->members() &&
      present->topology->scheme() == before->topology->scheme()) {
    return;
  }
  is_table_due_ = true;
  // Writing what is shared takes time, and requests need not wait: all have the same table by then.
  if (shared_state_ == nullptr) keep_table_now();
}

void MemberService::keep_table() {
  const std::lock_guard control(control_);
  keep_table_now();
}

// The owners are the same before and after. So whoever hears of it late, or never, routes alike
// until the members change again.
void MemberService::keep_table_now() {
  if (!is_table_due_ || !writes_state(configuration_)) return;
  if (shared_state_ != nullptr && shared_version_.empty()) return;  // it is not read yet
  const auto present = this->membership();
  shard::State state = present->topology->state_to_keep();
  if (state == present->topology->state()) {
    is_table_due_ = present->size() == 0;
    return;
  }
  const auto next = tier::with_scheme(present, present->topology->scheme(), std::move(state));
  RINGSIDE_CHECK(next.has_value());
  Configuration kept = configuration_;
  const auto written = keep(kept, *(*next)->topology);
  // Another process was first: the next look follows what it has written.
  const bool was_second = !written && written.error().kind == ErrorKind::refused;
  const std::string trouble = written || was_second ? std::string() : written.error().message;
  const bool is_news = std::exchange(table_trouble_, trouble) != trouble;
  if (!trouble.empty() && is_news) {
    log::warning("the table is not kept, and that is tried again: {}", trouble);
  }
  if (!written) return;
  is_table_due_ = false;
  publish(*next);
  const std::lock_guard lock(mutex_);
  configuration_ = std::move(kept);
}

}  // namespace ringside::program
