#pragma once

#include <boost/intrusive/list.hpp>

namespace ringside::cache {

// A key's place in the order in which a stripe gives its keys up. What is kept derives from it.
class Evictable : public boost::intrusive::list_base_hook<> {};

// Which key of a stripe goes first when room is needed. Knows nothing of what the keys hold. Not
// thread-safe: each stripe has its own, used under the stripe's lock.
class EvictionOrder {
 public:
  virtual ~EvictionOrder() = default;
  virtual void add(Evictable& key) noexcept = 0;
  virtual void use(Evictable& key) noexcept = 0;  // somebody asked for it
  virtual void remove(Evictable& key) noexcept = 0;
  [[nodiscard]] virtual Evictable* first_to_go() noexcept = 0;  // null: there is none
};

class LeastRecentlyUsed final : public EvictionOrder {
 public:
  ~LeastRecentlyUsed() override { keys_.clear(); }
  void add(Evictable& key) noexcept override { keys_.push_front(key); }
  void use(Evictable& key) noexcept override {
    keys_.splice(keys_.begin(), keys_, keys_.iterator_to(key));
  }
  void remove(Evictable& key) noexcept override { keys_.erase(keys_.iterator_to(key)); }
  [[nodiscard]] Evictable* first_to_go() noexcept override {
    return keys_.empty() ? nullptr : &keys_.back();
  }

 private:
  boost::intrusive::list<Evictable> keys_;  // the least recently used last
};

}  // namespace ringside::cache
