#include "simulate/key_set.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/check.h"
#include "base/hash.h"

namespace ringside::simulate {
namespace {

void write_generated(std::size_t index, std::string& room) {
  room.clear();
  fmt::format_to(std::back_inserter(room), "ZZ\n/key/{}\n", index);
}

}  // namespace

KeySet KeySet::generated(std::size_t count, double exponent) {
  KeySet set;
  set.is_generated_ = true;
  set.hashes_.reserve(count);
  std::string room;
  for (std::size_t index = 0; index < count; ++index) {
    write_generated(index, room);
    set.hashes_.push_back(hash64(room));
  }
  if (exponent == 0) return set;
  set.weights_.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    set.weights_.push_back(std::pow(static_cast<double>(index + 1), -exponent));
  }
  return set;
}

void KeySet::add(std::string_view bytes, double weight) {
  RINGSIDE_CHECK(!is_generated_);
  const auto [found, is_new] = indices_.try_emplace(std::string(bytes), hashes_.size());
  if (!is_new) {
    weights_[found->second] += weight;
    return;
  }
  texts_.push_back(found->first);
  hashes_.push_back(hash64(bytes));
  weights_.push_back(weight);
}

shard::ShardKey KeySet::key(std::size_t index, std::string& room) const {
  if (!is_generated_) return {texts_[index], hashes_[index]};
  write_generated(index, room);
  return {room, hashes_[index]};
}

}  // namespace ringside::simulate
