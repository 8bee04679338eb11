#include "cache/missed_purges.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/limits.h"

namespace ringside::cache {

std::optional<MissedPurges::News> MissedPurges::read(std::string_view value,
                                                     std::string_view purges) {
  const auto space = value.find(' ');
  if (space == 0 || space == std::string_view::npos) return std::nullopt;
  News news{std::string(value.substr(0, space)), 0};
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data() + space + 1, end, news.number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  news.purges = tier::parse_purge_number(purges);
  return news;
}

MissedPurges::Next MissedPurges::next(const News& news,
                                      const std::shared_ptr<net::Waiter::Bell>& bell) {
  const std::lock_guard lock(mutex_);
  if (is_old(news)) return Next::none;
  if (is_emptying_) {
    waiting_.push_back(bell);
    return Next::wait;
  }
  is_emptying_ = true;
  return Next::empty;
}

bool MissedPurges::is_old(const News& news) const {
  const auto known = heeded_.find(news.issuer);
  return known != heeded_.end() && news.number <= known->second;
}

bool MissedPurges::has_heeded(const News& news) {
  const std::lock_guard lock(mutex_);
  return is_old(news);
}

void MissedPurges::emptied(const News& news) {
  std::vector<std::shared_ptr<net::Waiter::Bell>> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (heeded_.size() >= limits::sidecars_heeded) heeded_.clear();
    auto& known = heeded_[news.issuer];
    known = std::max(known, news.number);
    is_emptying_ = false;
    waiting.swap(waiting_);
  }
  for (const auto& bell : waiting) bell->wake();
}

}  // namespace ringside::cache
