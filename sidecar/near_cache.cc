#include "sidecar/near_cache.h"

#include <algorithm>

#include "http/vary.h"

namespace ringside::sidecar {
namespace {

// What an entry costs beyond its text: list node, table node, strings.
constexpr std::size_t entry_overhead_bytes = 384;

}  // namespace

std::size_t NearCache::Entry::cost_bytes() const noexcept {
  std::size_t cost = entry_overhead_bytes + place.size();
  for (const std::string& name : vary) cost += sizeof(std::string) + name.size();
  if (response) cost += response->fields.text().size() + response->body.size();
  return cost;
}

NearCache::KeptPointer NearCache::find(const NearKey& key, const http::Fields& request,
                                       SteadyPoint now) {
  frequency_.add(key.hash);
  const Entry* const entry = follow(key, request);
  if (entry == nullptr) return nullptr;
  if (entry->until > now) return entry->response;
  drop(places_.at(entry->place));
  return nullptr;
}

NearCache::KeptPointer NearCache::peek(const NearKey& key, const http::Fields& request,
                                       SteadyPoint now) const {
  const auto entry_at = [this](std::string_view place) -> const Entry* {
    const auto found = places_.find(place);
    if (found == places_.end()) return nullptr;
    const Entry& entry = *found->second;
    return entry.asked.forgotten == forgotten_.count(entry.uri) ? &entry : nullptr;
  };
  const Entry* entry = entry_at(key.text);
  if (entry != nullptr && !entry->response) {
    entry = entry_at(key.text + "\n" + http::variant_key(entry->vary, request));
  }
  return entry != nullptr && entry->until > now ? entry->response : nullptr;
}

bool NearCache::admits(const NearKey& key, std::size_t size_bytes, SteadyPoint now) const {
  const unsigned frequency = frequency_.frequency(key.hash);
  const std::size_t cost = size_bytes + key.text.size() + entry_overhead_bytes;
  if (frequency < limits::near_admission_requests || cost > limit_bytes_) return false;
  std::size_t free_bytes = limit_bytes_ - used_bytes_;
  for (auto last = order_.rbegin(); free_bytes < cost; ++last) {
    const bool has_had_its_time = last->until <= now;
    if (!has_had_its_time && frequency_.frequency(last->hash) >= frequency) return false;
    free_bytes += last->cost_bytes();
  }
  return true;
}

void NearCache::store(const NearKey& key, const http::Fields& request, KeptPointer response,
                      const Terms& terms) {
  if (terms.asked.forgotten != forgotten_.count(key.uri)) return;
  const auto is_newer = [&](const Entry* entry) {
    return entry != nullptr && entry->asked.number > terms.asked.number;
  };
  const Entry* const first = look(key.text);
  const bool first_stays = is_newer(first);
  if (first_stays && (first->response || first->vary != terms.vary)) return;
  Entry entry{key.text, key.hash, key.uri, std::move(response), {}, terms.until, terms.asked};
  if (!terms.vary.empty()) {
    entry.place.append("\n").append(http::variant_key(terms.vary, request));
    if (is_newer(look(entry.place))) return;
    if (!first_stays) {
      put({key.text, key.hash, key.uri, nullptr, terms.vary, terms.until, terms.asked});
    }
  }
  put(std::move(entry));
}

void NearCache::drop_older(const NearKey& key, const http::Fields& request, const Moment& asked) {
  const Entry* const there = follow(key, request);
  if (there != nullptr && there->asked.number < asked.number) drop(places_.at(there->place));
}

NearCache::Entry* NearCache::look(std::string_view place) {
  const auto found = places_.find(place);
  if (found == places_.end()) return nullptr;
  const auto entry = found->second;
  if (entry->asked.forgotten != forgotten_.count(entry->uri)) {
    drop(entry);
    return nullptr;
  }
  order_.splice(order_.begin(), order_, entry);
  return &*entry;
}

NearCache::Entry* NearCache::follow(const NearKey& key, const http::Fields& request) {
  Entry* const entry = look(key.text);
  if (entry == nullptr || entry->response) return entry;
  variant_place_.assign(key.text).append("\n").append(http::variant_key(entry->vary, request));
  return look(variant_place_);
}

void NearCache::put(Entry entry) {
  if (const auto found = places_.find(entry.place); found != places_.end()) drop(found->second);
  const std::size_t cost = entry.cost_bytes();
  if (cost > limit_bytes_) return;
  while (used_bytes_ + cost > limit_bytes_) drop(std::prev(order_.end()));
  order_.push_front(std::move(entry));
  places_.emplace(order_.front().place, order_.begin());
  used_bytes_ += cost;
}

void NearCache::drop(Order::iterator place) {
  used_bytes_ -= place->cost_bytes();
  places_.erase(place->place);
  order_.erase(place);
}

}  // namespace ringside::sidecar
