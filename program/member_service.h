#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "program/service.h"

namespace ringside::program {

// A service that is told who the members are: by the configuration, `PUT /topology`, or a source
// that is watched. Whichever it is, what comes of it is one value, and one path leads to the cores.
class MemberService : public Service {
 public:
  [[nodiscard]] Result<void> apply(const Configuration& loaded) final;
  [[nodiscard]] Result<MembershipPointer> propose(const shard::TopologyRequest& request) override;
  [[nodiscard]] Result<MembershipPointer> cut(const CutRequest& request) final;
  [[nodiscard]] Result<void> follow_state(const shard::TopologyRequest& published) final;
  void share_state(SharedState* shared) final;
  [[nodiscard]] Result<void> follow_shared() final;
  [[nodiscard]] Result<void> follow(const k8s::Roster& roster) final;
  void keep_table() final;

 protected:
  explicit MemberService(const Configuration& configuration)
      : is_table_due_(configuration.state.table.empty()), configuration_(configuration) {}

  // The members that a configuration lists.
  [[nodiscard]] virtual const std::vector<shard::MemberAt>& listed(
      const Configuration& configuration) const = 0;
  // Other members under the present settings, which membership() tells from then on: reads no file,
  // and can't fail.
  virtual void publish(MembershipPointer membership) = 0;
  // Settings made of another configuration, with these members; or changes nothing and says why.
  [[nodiscard]] virtual Result<void> publish(const Configuration& next,
                                             MembershipPointer membership) = 0;

  [[nodiscard]] Result<void> check_state(const shard::Topology& present,
                                         const shard::Topology& next) const;
  // Publishes it; where the state is written here, once it is where it is kept.
  [[nodiscard]] Result<MembershipPointer> adopt(MembershipPointer next, std::string_view by);
  [[nodiscard]] Result<void> keep(Configuration& kept, const shard::Topology& next);
  [[nodiscard]] Result<void> write_shared(const shard::Topology& next);
  // What comes after each change of the members that was published; `control_` is held.
  void members_changed(const MembershipPointer& before);
  void keep_table_now();
  // Whether the shards in use come of those, by cuts.
  [[nodiscard]] bool is_behind(const shard::TopologyRequest& published) const;
  [[nodiscard]] Result<void> take(const shard::TopologyRequest& published);

  std::mutex control_;                   // one change at a time; before `mutex_`
  SharedState* shared_state_ = nullptr;  // of `control_`; null: it is kept in a file, or elsewhere
  // Of `control_`: of which the state in use is. What is written is made of no other one.
  std::string shared_version_;
  // Of `control_`: the members have changed, and no table of them is kept yet. What is shared is
  // written by those alone who saw the change: a process that has not heard of it would undo it.
  // Neither is one that was kept written over at the start, with members that may be old.
  bool is_table_due_;
  std::string table_trouble_;  // of `control_`: why the table could not be kept; empty: it could
  mutable std::mutex mutex_;   // what is below, and what those who derive say
  Configuration configuration_;
};

}  // namespace ringside::program
