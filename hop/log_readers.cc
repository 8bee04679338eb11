#include "hop/log_readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace ringside::hop {

bool LogFilter::matches(const AccessRecord& record) const noexcept {
  if (record.status < status_first || record.status > status_last) return false;
  if (record.duration <= slower_than) return false;
  if (!result.empty() && record.result != result) return false;
  if (!country.empty() && country != std::string_view(record.country.data(), 2)) return false;
  return replica.empty() || replica == record.replica;
}

bool LogReader::claim(const AccessRecord& record, bool can_be_written) noexcept {
  if (!filter_.matches(record)) return false;
  // Cores may pass the limit together, each by one line.
  if (can_be_written && claimed_.load(std::memory_order_relaxed) < limits::log_reader_lines) {
    claimed_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  miss();
  return false;
}

void LogReader::append(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || lines_.size() + line.size() > limits::log_reader_size_bytes) {
    claimed_.fetch_sub(1, std::memory_order_relaxed);
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  lines_ += line;
  line_count_ += 1;
}

void LogReader::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  std::string().swap(lines_);
}

LogReader::Taken LogReader::take() {
  const std::lock_guard lock(mutex_);
  claimed_.fetch_sub(std::exchange(line_count_, 0), std::memory_order_relaxed);
  return {std::exchange(lines_, std::string()), dropped_.exchange(0), false};
}

Result<LogReader::Taken> LogReaders::take(const std::string& name, const LogFilter& filter,
                                          SteadyPoint now) {
  std::unique_lock lock(mutex_);
  List list = without_silent(now);
  auto place = std::find_if(list.begin(), list.end(),
                            [&](const auto& reader) { return reader->name() == name; });
  const bool is_new = place == list.end();
  if (is_new) {
    if (list.size() >= limits::log_readers && !make_room(list, now)) {
      return Error{ErrorKind::overloaded, ErrorSource::ourselves, Retry::yes,
                   fmt::format("{} follow the requests here already, and there may be no more; "
                               "end one of them",
                               list.size())};
    }
    list.push_back(std::make_shared<LogReader>(name, filter));
    place = std::prev(list.end());
  }
  const std::shared_ptr<LogReader> reader = *place;
  reader->asked_at = now;
  if (list != *list_) publish(std::move(list));
  lock.unlock();
  auto taken = reader->take();
  taken.begun = is_new;
  return taken;
}

// A reader that has ended says nothing: of those that miss questions the one that misses most goes.
bool LogReaders::make_room(List& list, SteadyPoint now) {
  const auto silent = std::min_element(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a->asked_at < b->asked_at;
  });
  if (now - (*silent)->asked_at < limits::log_reader_patience / 2) return false;
  list.erase(silent);
  return true;
}

void LogReaders::forget_silent(SteadyPoint now) {
  const std::lock_guard lock(mutex_);
  List list = without_silent(now);
  if (list.size() < list_->size()) publish(std::move(list));
}

std::shared_ptr<const LogReaders::List> LogReaders::list() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

void LogReaders::publish(List list) {
  for (const auto& before : *list_) {
    // A core may keep the old list for long: its readers keep no lines.
    if (std::find(list.begin(), list.end(), before) == list.end()) before->close();
  }
  list_ = std::make_shared<const List>(std::move(list));
  any_ = !list_->empty();
  generation_.fetch_add(1, std::memory_order_release);
}

LogReaders::List LogReaders::without_silent(SteadyPoint now) const {
  List list = *list_;
  std::erase_if(list, [&](const auto& reader) {
    return now - reader->asked_at > limits::log_reader_patience;
  });
  return list;
}

}  // namespace ringside::hop
