#include "metrics/sheet.h"

#include <utility>

#include "base/check.h"

namespace ringside::metrics {

Sheet::Sheet(Role role, std::string name, std::size_t cores) : role_(role), name_(std::move(name)) {
  RINGSIDE_CHECK(cores > 0);
  for (std::size_t i = 0; i < cores; ++i) cores_.push_back(std::make_unique<CoreSheet>());
  make_block(0);
  names_.push_back(name_);
  indices_.emplace(name_, 0);
}

CoreSheet& Sheet::core(std::size_t index) noexcept {
  RINGSIDE_CHECK(index < cores_.size());
  return *cores_[index];
}

ShardIndex Sheet::shard(std::string_view replica_name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = indices_.find(replica_name); known != indices_.end()) return known->second;
  // A replica that is really called "other" is counted with the others, as its label says.
  if (names_.size() == shard_names || replica_name == "other") {
    if (!other_is_used_) make_block(other / CoreSheet::shards_per_block);
    other_is_used_ = true;
    return other;
  }
  const auto index = static_cast<ShardIndex>(names_.size());
  if (index % CoreSheet::shards_per_block == 0) make_block(index / CoreSheet::shards_per_block);
  names_.emplace_back(replica_name);
  indices_.emplace(replica_name, index);
  return index;
}

void Sheet::make_block(std::size_t block_index) {
  for (const auto& core : cores_) {
    auto& block = blocks_.emplace_back(std::make_unique<CoreSheet::ShardBlock>());
    core->blocks_[block_index].store(block.get(), std::memory_order_release);
  }
}

void Sheet::set_topology(std::uint64_t version, std::size_t replicas, std::string id) {
  const std::lock_guard lock(mutex_);
  topology_ = TopologyFigures{version, replicas, std::move(id)};
}

void Sheet::set_store(const StoreFigures& figures) {
  const std::lock_guard lock(mutex_);
  store_ = figures;
}

void Sheet::set_origins(const OriginFigures& figures) {
  const std::lock_guard lock(mutex_);
  origins_ = figures;
}

Totals Sheet::totals() const {
  Totals totals;
  totals.role = role_;
  totals.name = name_;
  std::vector<ShardIndex> indices;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& name : names_) {
      indices.push_back(static_cast<ShardIndex>(indices.size()));
      totals.shards.push_back({name});
    }
    if (other_is_used_) {
      indices.push_back(other);
      totals.shards.push_back({"other"});
    }
    totals.topology = topology_;
    totals.store = store_;
    totals.origins = origins_;
  }
  for (const auto& core : cores_) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      core->add_to(totals.shards[i], indices[i]);
    }
    core->add_to(totals);
  }
  return totals;
}

}  // namespace ringside::metrics
