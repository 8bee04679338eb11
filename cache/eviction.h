#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <functional>

namespace ringside::cache {

// A key's place in the order in which a stripe gives its keys up. What is kept derives from it.
class Evictable : public boost::intrusive::list_base_hook<> {};

// Which key of a stripe goes first when room is needed. Knows nothing of what the keys hold. Not
// thread-safe: each stripe has its own, used under the stripe's lock.
class EvictionOrder {
 public:
  virtual ~EvictionOrder() = default;
  virtual void add(Evictable& key) noexcept = 0;
  virtual void add_as_first_to_go(Evictable& key) noexcept = 0;
  virtual void use(Evictable& key) noexcept = 0;  // somebody asked for it
  virtual void remove(Evictable& key) noexcept = 0;
  [[nodiscard]] virtual Evictable* first_to_go() noexcept = 0;  // null: there is none
  // So many of those that go last, the last one first.
  virtual void visit_last_to_go(std::size_t most,
                                const std::function<void(const Evictable&)>& visit) const = 0;
};

class LeastRecentlyUsed final : public EvictionOrder {
 public:
  ~LeastRecentlyUsed() override { keys_.clear(); }
  void add(Evictable& key) noexcept override { keys_.push_front(key); }
  void add_as_first_to_go(Evictable& key) noexcept override { keys_.push_back(key); }
  void use(Evictable& key) noexcept override {
    keys_.splice(keys_.begin(), keys_, keys_.iterator_to(key));
  }
  void remove(Evictable& key) noexcept override { keys_.erase(keys_.iterator_to(key)); }
  [[nodiscard]] Evictable* first_to_go() noexcept override {
    return keys_.empty() ? nullptr : &keys_.back();
  }
  void visit_last_to_go(std::size_t most,
                        const std::function<void(const Evictable&)>& visit) const override {
    for (auto key = keys_.begin(); key != keys_.end() && most > 0; ++key, --most) visit(*key);
  }

 private:
  boost::intrusive::list<Evictable> keys_;  // the least recently used last
};

}  // namespace ringside::cache
