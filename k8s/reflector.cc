#include "k8s/reflector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ringside::k8s {

using Act = Attempt::Act;

std::string query_value(std::string_view text) {
  std::string out;
  for (const char each : text) {
    const bool is_letter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
    const bool is_digit = each >= '0' && each <= '9';
    if (is_letter || is_digit || std::string_view("-._~").find(each) != std::string_view::npos) {
      out += each;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(each));
    }
  }
  return out;
}

Reflector::Reflector(const Access& access, const Pace& pace, Resource resource,
                     Reflection& reflection, Reports reports)
    : pace_(pace),
      resource_(std::move(resource)),
      reports_(std::move(reports)),
      reflection_(reflection),
      client_(access, pace),
      steps_(pace.backoff),
      chance_(std::random_device{}()) {}

void Reflector::run() {
  Step step;
  do {
    if (step.act == Act::list) reflection_.forget_version();
    const bool lists = reflection_.resource_version().empty();
    const Attempt attempt = lists ? list() : watch();
    if (client_.stopped()) return;
    step = steps_.next(attempt, random());
    report(attempt, steps_.failures());
    if (failure_ && failure_->reason == FailureReason::not_found) collection_.clear();
  } while (pause(step.wait));
}

void Reflector::stop() {
  client_.stop();
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  stopping_.notify_all();
}

void Reflector::watch_again() {
  if (!is_watching_.load()) return;
  is_cut_.store(true);
  client_.cut();
}

bool Reflector::pause(Milliseconds wait) {
  std::unique_lock lock(mutex_);
  return !stopping_.wait_for(lock, wait, [this] { return stopped_; });
}

double Reflector::random() { return std::uniform_real_distribution<double>(0.0, 1.0)(chance_); }

void Reflector::heard(Sign sign) {
  const bool proves = sign >= needed_;
  if (proves) needed_ = Sign::list;
  reports_.heard(proves);
}

// A watch that is cut now and then, by a proxy's timeout or a server that restarts, is no trouble
// while the next one works; neither is a version that is too old while the list works.
void Reflector::report(const Attempt& attempt, unsigned failures) {
  if (!failure_) return;
  const bool is_cut = opened_ && failure_->reason == FailureReason::unreachable;
  const bool is_first = attempt.act == Act::watch && failures == 1;
  const bool is_trouble = !(is_first && (is_cut || failure_->reason == FailureReason::gone));
  needed_ = attempt.act == Act::list ? Sign::list : opened_ ? Sign::event : Sign::opening;
  reports_.failed(*failure_, is_trouble);
}

Attempt Reflector::list() {
  opened_ = false;
  failure_.reset();
  if (auto asked = ask_list(); !asked) failure_ = asked.error();
  Attempt attempt;
  attempt.act = Act::list;
  attempt.failure = failure_ ? &*failure_ : nullptr;
  return attempt;
}

Outcome<void> Reflector::ask_list() {
  if (collection_.empty()) {
    auto located = resource_.locate(client_);
    if (!located) return located.error();
    collection_ = std::move(*located);
  }
  const auto body = client_.get(collection_ + "?" + resource_.selector,
                                {"list", resource_.name, resource_.name_space});
  if (!body) return body.error();
  if (auto listed = reflection_.listed(*body); !listed) return listed;
  heard(Sign::list);
  reports_.changed();
  return {};
}

Attempt Reflector::watch() {
  opened_ = false;
  failure_.reset();
  Attempt attempt;
  attempt.act = Act::watch;
  const auto begun = std::chrono::steady_clock::now();
  is_cut_.store(false);
  is_watching_.store(true);
  auto asked = ask_watch(attempt);
  is_watching_.store(false);
  if (!asked && !is_cut_.load()) {
    failure_ = asked.error();
  } else {
    heard(Sign::event);  // that it ends in order is one
  }
  attempt.lasted =
      std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begun);
  attempt.failure = failure_ ? &*failure_ : nullptr;
  return attempt;
}

std::string Reflector::watch_query() {
  // Not all processes of a tier that began together shall resume together.
  const double seconds = std::chrono::duration<double>(pace_.watch_timeout).count();
  const auto timeout_s = std::max<long>(1, std::lround(seconds * (0.75 + 0.25 * random())));
  return fmt::format("{}?{}&watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                     collection_, resource_.selector, query_value(reflection_.resource_version()),
                     timeout_s);
}

Outcome<void> Reflector::ask_watch(Attempt& attempt) {
  EventLines lines;
  std::optional<Failure> senseless;
  const auto take_piece = [&](std::string_view piece) {
    if (piece.empty()) {
      opened_ = true;
      heard(Sign::opening);
      return true;
    }
    if (auto taken = take(piece, lines, attempt.told); !taken) {
      senseless = taken.error();
    }
    return !senseless;
  };
  auto watched =
      client_.watch(watch_query(), {"watch", resource_.name, resource_.name_space}, take_piece);
  if (senseless) return std::move(*senseless);
  if (watched && lines.has_unfinished()) {
    return Failure{FailureReason::unreachable, "the watch was cut within an event", {}};
  }
  return watched;
}

Outcome<void> Reflector::take(std::string_view piece, EventLines& lines, bool& told) {
  bool changed = false;
  bool understood = false;
  auto added = lines.add(piece, [&](std::string_view line) -> Outcome<void> {
    auto event = reflection_.event(line);
    if (!event) return event.error();
    understood = true;
    changed = changed || *event;
    return {};
  });
  told = told || understood;
  if (understood) heard(Sign::event);
  if (changed) reports_.changed();
  return added;
}

}  // namespace ringside::k8s
