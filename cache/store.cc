#include "cache/store.h"

#include <algorithm>

#include "base/limits.h"
#include "cache/parts.h"
#include "http/vary.h"

namespace ringside::cache {
namespace {

// A key's share of memory beside its responses: row, table nodes and slots, vector, headers; a list
// of its bucket for itself, as most have.
constexpr std::size_t row_overhead_bytes = 464;

bool is_same_variant(const StoredHead& a, const StoredHead& b) noexcept {
  return a.vary() == b.vary() && a.variant() == b.variant();
}

bool came_later(const StoredResponse& a, const StoredResponse& b) noexcept {
  return a.head->freshness().received > b.head->freshness().received;
}

}  // namespace

Store::Store(std::size_t limit_bytes)
    : limit_bytes_(limit_bytes),
      memory_(std::make_shared<BodyMemory>(limit_bytes)),
      bucket_entries_(shard::bucket_count),
      bucket_changes_(shard::bucket_count),
      bucket_stripes_(shard::bucket_count) {}

// The table's pieces are not stored any more, though somebody may hold them.
Store::~Store() {
  for (Stripe& stripe : stripes_) {
    for (const auto& row : stripe.rows) {
      for (const StoredPointer& variant : row.second->variants) leave(*variant);
    }
  }
}

std::size_t Store::object_limit_bytes() const noexcept {
  return limit_bytes_ / limits::object_share_divisor;
}

Store::Found Store::find(const CacheKey& key, const http::Fields& request, Look look) {
  if (look == Look::nowhere) return {};
  Stripe& stripe = stripe_of(key.hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.rows.find(KeyView{key.text, key.own_hash});
  if (place == stripe.rows.end()) return {};
  Row& row = *place->second;
  if (look == Look::use) stripe.order->use(row);
  // The newest answer says what the URI varies on now (RFC 9111 §4.1).
  const auto& names = row.variants.back()->head->vary();
  if (names.empty()) return {row.variants.back(), {}};
  // Most often all of them vary on the same.
  const auto asked = http::variant_key(names, request);
  const auto variant =
      std::find_if(row.variants.rbegin(), row.variants.rend(), [&](const StoredPointer& stored) {
        const StoredHead& head = *stored->head;
        return (head.vary() == names ? asked : http::variant_key(head.vary(), request)) ==
               head.variant();
      });
  return {variant == row.variants.rend() ? nullptr : *variant, names};
}

void Store::enter(const StoredResponse& response) noexcept {
  for (const PiecePointer& piece : response.body->pieces) piece->enter_store();
}

void Store::leave(const StoredResponse& response) noexcept {
  for (const PiecePointer& piece : response.body->pieces) piece->leave_store();
}

void Store::add_variant(Row& row, StoredPointer response, std::size_t variants_most,
                        std::size_t& dropped) {
  const StoredHead& head = *response->head;
  enter(*response);
  dropped = std::erase_if(row.variants, [&](const StoredPointer& old) {
    const bool goes = is_same_variant(*old->head, head);
    if (goes) leave(*old);
    return goes;
  });
  while (!row.variants.empty() && row.variants.size() >= variants_most) {
    leave(*row.variants.front());
    row.variants.erase(row.variants.begin());
    ++dropped;
  }
  // Before those that came later, which only what was restored has.
  auto place = row.variants.end();
  while (place != row.variants.begin() && came_later(**(place - 1), *response)) --place;
  row.variants.insert(place, std::move(response));
  row.cost_bytes = cost_bytes_of(row);
}

std::size_t Store::cost_bytes_of(const Row& row) noexcept {
  std::size_t bytes = row.key.capacity() + row_overhead_bytes;
  for (const StoredPointer& variant : row.variants) bytes += variant->cost_bytes();
  return bytes;
}

CellVector<StoredPointer>::const_iterator Store::variant_like(const Row& row,
                                                              const StoredHead& head) noexcept {
  return std::find_if(row.variants.begin(), row.variants.end(), [&](const StoredPointer& stored) {
    return is_same_variant(*stored->head, head);
  });
}

std::size_t Store::cost_bytes_most(const CacheKey& key, const StoredResponse& response) noexcept {
  // A part may be joined to others, which costs two cut pieces.
  return response.cost_bytes() + key.text.size() + 16 + row_overhead_bytes +
         (response.extent ? 2 * piece_cost_bytes(limits::body_piece_size_bytes) : 0);
}

bool Store::put(const CacheKey& key, StoredPointer response, std::uint64_t purges_seen,
                std::size_t variants_most, const std::atomic<bool>* outdated) {
  const std::size_t most_bytes = cost_bytes_most(key, *response);
  if (response->body->size_bytes > object_limit_bytes() || !reserve(most_bytes)) return false;
  return put_paid(key, std::move(response), {most_bytes, purges_seen, variants_most, outdated});
}

bool Store::restore(const CacheKey& key, StoredResponse response, std::string_view body,
                    Warmth warmth, std::uint64_t purges_seen, std::size_t& may_evict_bytes) {
  // Before memory is taken for it: many come in vain.
  if (holds_later(key, response)) return purges_.load() == purges_seen;
  auto restored = make_body();
  restored->size_bytes = body.size();
  response.body = restored;
  const std::size_t row_bytes = cost_bytes_most(key, response);
  const std::size_t body_bytes = BodyMemory::cost_bytes_most(body.size());
  const std::size_t most_bytes = row_bytes + body_bytes;
  if (body.size() > object_limit_bytes()) return false;
  if (!memory_->try_reserve(most_bytes)) {
    const bool may_evict = warmth == Warmth::warm && most_bytes <= may_evict_bytes;
    if (!may_evict || !reserve(most_bytes)) return false;
    may_evict_bytes -= most_bytes;
  }
  const auto pieces = memory_->make({&body, 1}, body_bytes);
  restored->pieces.assign(pieces.begin(), pieces.end());
  return put_paid(key, make_stored(std::move(response)),
                  {.paid_bytes = row_bytes,
                   .purges_seen = purges_seen,
                   .order = Order::by_time,
                   .warmth = warmth});
}

// What was asked for meanwhile is here already, and is younger.
bool Store::holds_later(const CacheKey& key, const StoredResponse& response) {
  Stripe& stripe = stripe_of(key.hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.rows.find(KeyView{key.text, key.own_hash});
  if (place == stripe.rows.end()) return false;
  Row& row = *place->second;
  const auto present = variant_like(row, *response.head);
  const bool is_later = present != row.variants.end() && !(*present)->extent &&
                        came_later(**present, response) && row.bucket() == labels_.of(key);
  // As if it had come now: a walk that has passed it may not remove it.
  if (is_later) note_change(stripe, row);
  return is_later;
}

bool Store::put_paid(const CacheKey& key, StoredPointer response, const Terms& terms) {
  Stripe& stripe = stripe_of(key.hash);
  const std::lock_guard lock(stripe.mutex);
  // A purge counts first and then walks the stripes:
  //   1. purge: purges_ becomes n + 1      1'. put sees n, under the stripe's lock, and stores
  //   2. put sees n + 1, stores nothing    2'. purge takes the lock after it and removes it
  // Likewise what is invalidated is marked before this lock is taken for erasing it.
  const bool is_outdated = terms.outdated != nullptr && terms.outdated->load();
  if (purges_.load() != terms.purges_seen || is_outdated) {
    give_back(terms.paid_bytes);
    return false;
  }
  Row& row = find_or_add(stripe, key, terms.warmth);
  follow_label(stripe, row, key);
  const std::size_t before_bytes = row.cost_bytes;
  const auto present = variant_like(row, *response->head);
  const bool has_like = present != row.variants.end();
  if (has_like && terms.order == Order::by_time && came_later(**present, *response)) {
    // Of a part that came first, for who could not wait, the whole comes behind.
    StoredPointer both = *present;
    if (both->extent) both = kept_of(response, both, object_limit_bytes());
    if (both == *present) {
      note_change(stripe, row);  // as in holds_later
      give_back(terms.paid_bytes);
      return true;
    }
    response = std::move(both);
  } else if (has_like && response->extent) {
    response = kept_of(*present, std::move(response), object_limit_bytes());
  }
  std::size_t dropped = 0;
  add_variant(row, std::move(response), terms.variants_most, dropped);
  count(row, 1, dropped);
  note_change(stripe, row);
  memory_->add(row.cost_bytes - before_bytes - terms.paid_bytes);
  return true;
}

bool Store::replace(const CacheKey& key, const StoredPointer& old, StoredPointer fresh) {
  const std::size_t most_bytes = fresh->cost_bytes();
  if (!reserve(most_bytes)) return false;
  Stripe& stripe = stripe_of(key.hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.rows.find(KeyView{key.text, key.own_hash});
  if (place == stripe.rows.end()) {
    give_back(most_bytes);
    return false;
  }
  Row& row = *place->second;
  const auto variant = std::find(row.variants.begin(), row.variants.end(), old);
  const bool found = variant != row.variants.end();
  const std::size_t before_bytes = row.cost_bytes;
  if (found) {
    enter(*fresh);
    leave(**variant);
    *variant = std::move(fresh);
    row.cost_bytes = cost_bytes_of(row);
    follow_label(stripe, row, key);
    note_change(stripe, row);
  }
  memory_->add(row.cost_bytes - before_bytes - most_bytes);
  return found;
}

void Store::erase(const CacheKey& key) {
  Stripe& stripe = stripe_of(key.hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.rows.find(KeyView{key.text, key.own_hash});
  if (place != stripe.rows.end()) remove(stripe, place);
}

void Store::erase(const CacheKey& key, const StoredPointer& variant) {
  Stripe& stripe = stripe_of(key.hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.rows.find(KeyView{key.text, key.own_hash});
  if (place == stripe.rows.end()) return;
  Row& row = *place->second;
  if (row.variants.size() == 1 && row.variants.front() == variant) {
    remove(stripe, place);
    return;
  }
  const std::size_t gone = std::erase(row.variants, variant);
  if (gone > 0) leave(*variant);
  const std::size_t before_bytes = row.cost_bytes;
  row.cost_bytes = cost_bytes_of(row);
  count(row, 0, gone);
  memory_->give_back(before_bytes - row.cost_bytes);
}

std::size_t Store::erase_uri(const CacheKey& key) {
  Stripe& stripe = stripe_of(key.hash);
  const std::lock_guard lock(stripe.mutex);
  const auto newest = stripe.newest_of_uri.find(key.hash);
  Row* row = newest == stripe.newest_of_uri.end() ? nullptr : newest->second;
  std::size_t removed = 0;
  while (row != nullptr) {
    Row* const older = row->older;
    if (row->key.starts_with(key.uri())) {
      removed += row->variants.size();
      remove(stripe, stripe.rows.find(KeyView{row->key, row->hash}));
    }
    row = older;
  }
  return removed;
}

void Store::link(Stripe& stripe, Row& row) {
  Row*& newest = stripe.newest_of_uri[row.uri_hash];
  row.older = newest;
  if (newest != nullptr) newest->newer = &row;
  newest = &row;
}

void Store::unlink(Stripe& stripe, const Row& row) noexcept {
  if (row.older != nullptr) row.older->newer = row.newer;
  if (row.newer != nullptr) {
    row.newer->older = row.older;
  } else if (row.older != nullptr) {
    stripe.newest_of_uri[row.uri_hash] = row.older;
  } else {
    stripe.newest_of_uri.erase(row.uri_hash);
  }
}

Store::Row& Store::find_or_add(Stripe& stripe, const CacheKey& key, Warmth warmth) {
  const auto place = stripe.rows.find(KeyView{key.text, key.own_hash});
  if (place != stripe.rows.end()) {
    if (warmth == Warmth::warm) stripe.order->use(*place->second);
    return *place->second;
  }
  auto made = std::make_unique<Row>(key);
  Row& row = *made;
  stripe.rows.emplace(KeyView{row.key, row.hash}, std::move(made));
  if (warmth == Warmth::warm) stripe.order->add(row);
  if (warmth == Warmth::cold) stripe.order->add_as_first_to_go(row);
  link(stripe, row);
  return row;
}

// Takes the row out. What it costs is used until it is freed.
Store::Rows::node_type Store::take(Stripe& stripe, Rows::iterator place) noexcept {
  Row& row = *place->second;
  count(row, 0, row.variants.size());
  for (const StoredPointer& variant : row.variants) leave(*variant);
  leave_bucket(stripe, row);
  stripe.order->remove(row);
  unlink(stripe, row);
  return stripe.rows.extract(place);
}

void Store::remove(Stripe& stripe, Rows::iterator place) noexcept {
  memory_->give_back(place->second->cost_bytes);
  take(stripe, place);
}

std::size_t Store::purge(std::string_view prefix) {
  Purge purge(*this, std::string(prefix));
  while (!purge.step()) {
  }
  return purge.removed();
}

// A step of each in turn: who waits for a stripe gets it while the others have theirs.
bool Store::Purge::step() {
  while (walks_[next_].is_over) next_ = (next_ + 1) % stripe_count;
  Walk& walk = walks_[next_];
  removed_ += store_.purge_step(store_.stripes_[next_], prefix_, walk);
  next_ = (next_ + 1) % stripe_count;
  if (walk.is_over) --unfinished_;
  return unfinished_ == 0;
}

// What is put meanwhile was fetched after the purge began, so that a walk need not meet it; all
// else stays in its bucket, or the table has grown.
std::size_t Store::purge_step(Stripe& stripe, std::string_view prefix, Walk& walk) {
  std::vector<Rows::node_type> gone;  // freed when the lock is not held any more
  {
    const std::lock_guard lock(stripe.mutex);
    Rows& rows = stripe.rows;
    if (walk.bucket_count != rows.bucket_count()) walk = {rows.bucket_count(), 0, false};
    std::size_t looked_at = 0;
    while (walk.next_bucket < walk.bucket_count && looked_at < limits::purge_step_rows) {
      ++looked_at;  // an empty bucket costs something, too
      for (auto row = rows.begin(walk.next_bucket); row != rows.end(walk.next_bucket);) {
        ++looked_at;
        const KeyView key = (row++)->first;
        if (key.text.starts_with(prefix)) gone.push_back(take(stripe, rows.find(key)));
      }
      ++walk.next_bucket;
    }
    walk.is_over = walk.next_bucket == walk.bucket_count;
  }
  std::size_t responses = 0;
  std::size_t bytes = 0;
  for (const auto& row : gone) {
    responses += row.mapped()->variants.size();
    bytes += row.mapped()->cost_bytes;
  }
  gone.clear();
  memory_->give_back(bytes);
  return responses;
}

// Evicts from the next stripe that holds anything. No lock is held while another is taken.
bool Store::evict_one() noexcept {
  for (std::size_t tried = 0; tried < stripe_count; ++tried) {
    Stripe& stripe = stripes_[next_victim_.fetch_add(1) % stripe_count];
    Rows::node_type gone;  // freed when the lock is not held any more
    {
      const std::lock_guard lock(stripe.mutex);
      auto* const row = static_cast<Row*>(stripe.order->first_to_go());
      if (row == nullptr) continue;
      evictions_.fetch_add(row->variants.size());
      gone = take(stripe, stripe.rows.find(KeyView{row->key, row->hash}));
    }
    const std::size_t bytes = gone.mapped()->cost_bytes;
    gone = {};
    memory_->give_back(bytes);
    return true;
  }
  return false;
}

bool Store::reserve(std::size_t bytes) {
  if (bytes > limit_bytes_) return false;
  while (!memory_->try_reserve(bytes)) {
    if (is_pinned_full()) {
      if (on_pressure_) on_pressure_();
      return false;
    }
    if (!evict_one()) return false;
  }
  return true;
}

}  // namespace ringside::cache
