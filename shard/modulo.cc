#include "shard/modulo.h"

#include <algorithm>

namespace ringside::shard {

Modulo::Modulo(std::span<const Member> members) {
  for (MemberIndex index = 0; index < members.size(); ++index) {
    if (members[index].weight == 0) continue;
    places_.insert(places_.end(), members[index].weight, members_.size());
    members_.push_back(index);
  }
}

void Modulo::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  owners.clear();
  if (members_.empty()) return;
  const std::size_t first = places_[bucket_of(key.hash) % places_.size()];
  for (std::size_t i = 0; i < std::min(n, members_.size()); ++i) {
    owners.push_back(members_[(first + i) % members_.size()]);
  }
}

std::vector<MemberIndex> Modulo::bucket_owners() const {
  std::vector<MemberIndex> owners;
  if (members_.empty()) return owners;
  owners.reserve(bucket_count);
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    owners.push_back(members_[places_[bucket % places_.size()]]);
  }
  return owners;
}

Result<std::shared_ptr<const Scheme>> make_modulo(std::span<const Member> members) {
  return std::shared_ptr<const Scheme>(std::make_shared<Modulo>(members));
}

}  // namespace ringside::shard
