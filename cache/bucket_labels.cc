#include "cache/bucket_labels.h"

#include <charconv>
#include <utility>

#include "base/hash.h"

namespace ringside::cache {
namespace {

constexpr std::string_view shard_part = "shard=";

}  // namespace

std::optional<std::string> shard_key_in(std::string_view key_text) {
  std::size_t place = key_text.find(shard_part);
  while (place != std::string_view::npos && place > 0) {
    if (key_text[place - 1] == '\n' || key_text[place - 1] == '&') break;
    place = key_text.find(shard_part, place + 1);
  }
  if (place == std::string_view::npos || place == 0) return std::nullopt;
  std::string_view value = key_text.substr(place + shard_part.size());
  value = value.substr(0, value.find('&'));
  std::string key;
  while (!value.empty()) {
    unsigned byte = static_cast<unsigned char>(value.front());
    std::size_t size = 1;
    if (value.front() == '%') {
      if (value.size() < 3) return std::nullopt;
      const auto read = std::from_chars(value.data() + 1, value.data() + 3, byte, 16);
      if (read.ptr != value.data() + 3) return std::nullopt;
      size = 3;
    }
    key.push_back(static_cast<char>(byte));
    value.remove_prefix(size);
  }
  return key;
}

std::optional<shard::Bucket> bucket_by(const shard::Topology* topology, std::string_view key_text,
                                       std::optional<shard::Bucket> told) {
  if (topology == nullptr || !topology->has_state()) return told;
  const auto key = shard_key_in(key_text);
  if (!key || topology->bucket_owners().empty()) return std::nullopt;
  return topology->bucket_for({*key, hash64(*key)});
}

bool BucketLabels::follow(TopologyPointer topology, TopologyPointer& was) {
  const std::lock_guard lock(mutex_);
  has_state_.store(topology && topology->has_state());
  was = std::exchange(topology_, std::move(topology));
  if (!was || !topology_) return false;
  if (was->numbering() != topology_->numbering()) return true;
  return topology_->has_state() && was->id() != topology_->id();
}

std::optional<shard::Bucket> BucketLabels::by_state(const CacheKey& key) const {
  const std::lock_guard lock(mutex_);
  return bucket_by(topology_.get(), key.text, key.bucket);
}

}  // namespace ringside::cache
