#include "cache/bucket_labels.h"

#include <charconv>
#include <utility>

#include "base/hash.h"

namespace ringside::cache {
namespace {

constexpr std::string_view shard_part = "shard=";

// What the sidecar has told stands behind host, URI and scheme: a client writes a URI as it likes.
std::string_view told_in(std::string_view key_text) noexcept {
  constexpr int lines_before = 3;
  for (int line = 0; line < lines_before; ++line) {
    const std::size_t end = key_text.find('\n');
    key_text.remove_prefix(end == std::string_view::npos ? key_text.size() : end + 1);
  }
  return key_text;
}

}  // namespace

std::optional<std::string> shard_key_in(std::string_view key_text) {
  const std::string_view told = told_in(key_text);
  std::size_t place = told.find(shard_part);
  while (place != std::string_view::npos && place > 0 && told[place - 1] != '&') {
    place = told.find(shard_part, place + 1);
  }
  if (place == std::string_view::npos) return std::nullopt;
  std::string_view value = told.substr(place + shard_part.size());
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
  if (topology == nullptr || !topology->finds_buckets()) return told;
  const auto key = shard_key_in(key_text);
  if (!key || topology->bucket_owners().empty()) return std::nullopt;
  return topology->bucket_for({*key, hash64(*key)});
}

bool BucketLabels::follow(TopologyPointer topology, TopologyPointer& was) {
  const std::lock_guard lock(mutex_);
  finds_buckets_.store(topology && topology->finds_buckets());
  was = std::exchange(topology_, std::move(topology));
  if (!was || !topology_) return false;
  if (was->numbering() != topology_->numbering()) return true;
  return topology_->finds_buckets() && was->id() != topology_->id();
}

std::optional<shard::Bucket> BucketLabels::by_topology(const CacheKey& key) const {
  const std::lock_guard lock(mutex_);
  return bucket_by(topology_.get(), key.text, key.bucket);
}

}  // namespace ringside::cache
