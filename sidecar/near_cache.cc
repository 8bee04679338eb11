#include "sidecar/near_cache.h"

#include <array>

namespace ringside::sidecar {
namespace {

// What an entry costs beyond its text: list node, table node, strings.
constexpr std::size_t entry_overhead_bytes = 320;

std::size_t cost_bytes(const std::string& key, const NearCache::Entry& entry) noexcept {
  const NearCache::KeptResponse& kept = *entry.response;
  return key.size() + kept.fields.text().size() + kept.body.size() + entry_overhead_bytes;
}

}  // namespace

const NearCache::Entry* NearCache::find(const std::string& key, SteadyPoint now) {
  heed_purges();
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  if (found->second->second.until <= now) {
    drop(found->second);
    return nullptr;
  }
  order_.splice(order_.begin(), order_, found->second);
  return &found->second->second;
}

void NearCache::store(const std::string& key, Entry entry, std::uint64_t asked_at) {
  heed_purges();
  if (asked_at != heeded_) return;
  if (const auto found = places_.find(key); found != places_.end()) drop(found->second);
  const std::size_t cost = cost_bytes(key, entry);
  if (cost > limit_bytes_) return;
  while (used_bytes_ + cost > limit_bytes_) drop(std::prev(order_.end()));
  order_.emplace_front(key, std::move(entry));
  places_.emplace(order_.front().first, order_.begin());
  used_bytes_ += cost;
}

void NearCache::drop(Order::iterator place) {
  used_bytes_ -= cost_bytes(place->first, place->second);
  places_.erase(place->first);
  order_.erase(place);
}

void NearCache::heed_purges() noexcept {
  const std::uint64_t now = purges();
  if (now == heeded_) return;
  heeded_ = now;
  places_.clear();
  order_.clear();
  used_bytes_ = 0;
}

bool may_be_answered_nearby(const http::RequestHead& request) noexcept {
  if (request.method != "GET" || request.framing.kind != http::Framing::Kind::none) return false;
  constexpr std::array<std::string_view, 10> telling = {
      "cache-control", "pragma",   "authorization",     "range",
      "if-none-match", "if-match", "if-modified-since", "if-unmodified-since",
      "if-range",      "upgrade"};
  for (const http::Field& field : request.fields) {
    for (const std::string_view name : telling) {
      if (http::same_token(field.name, name)) return false;
    }
  }
  return true;
}

}  // namespace ringside::sidecar
