#include "program/process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "program/admin_access.h"
#include "program/quantities.h"

namespace ringside::program {

Process::Process(Invocation invocation, Configuration configuration, Service& service,
                 const Clock& clock, ProcessParts parts)
    : invocation_(std::move(invocation)),
      service_(service),
      clock_(clock),
      access_log_(parts.access_log),
      discovery_(std::move(parts.discovery)),
      keeper_(std::move(parts.keeper)),
      files_(std::move(parts.files)),
      configuration_(std::move(configuration)) {
  add_pages();
  service_.keep_table();  // before anybody can change the members
  if (discovery_ == nullptr && keeper_ == nullptr) return;
  service_.read_again_by([this] {
    if (discovery_ != nullptr) discovery_->read_again();
    if (keeper_ != nullptr) keeper_->look_again();
  });
}

Process::~Process() {
  probes_.stop();
  admin_.stop();  // before the thread, which POST /drain may start
  end_delay();
  service_.read_again_by({});
}

Result<void> Process::start_admin() {
  auto access = load_admin_access(configuration_);
  if (!access) return access.error();
  probes_.set_access(*access);
  admin_.set_access(*std::move(access));
  if (auto started = admin_.start(configuration_.admin); !started) {
    return start_failure(started.error(), configuration_.place("admin"));
  }
  if (!configuration_.probe) return {};
  if (auto started = probes_.start(*configuration_.probe); !started) {
    return start_failure(started.error(), configuration_.place("probe"));
  }
  return {};
}

std::optional<Endpoint> Process::probe() const {
  const std::lock_guard lock(mutex_);
  if (!configuration_.probe) return std::nullopt;
  return probes_.address();
}

int Process::run(const Signals& signals) {
  while (true) {
    const Signals::Event event = signals.wait(limits::file_poll);
    log::tell_folded();
    if (event == Signals::Event::terminate) return end(signals);
    if (event == Signals::Event::reload && access_log_ != nullptr) access_log_->reopen();
    const bool changed = files_.look();
    // reload() logs what it refuses.
    if (event == Signals::Event::reload || changed) static_cast<void>(reload());
  }
}

Result<void> Process::reload() {
  auto applied = load_and_apply();
  const std::lock_guard lock(mutex_);
  if (applied) {
    ++reloads_applied_;
    last_refusal_.clear();
    log::info("reloaded: the new configuration is in use");
  } else {
    ++reloads_refused_;
    last_refusal_ = applied.error().message;
    log::error("reload refused, the old configuration stays: {}", last_refusal_);
  }
  return applied;
}

Result<void> Process::load_and_apply() {
  auto loaded = load_again(invocation_, configuration_);
  if (!loaded) return loaded.error();
  auto& [next, kept, files] = *loaded;
  for (const std::string& option : kept) {
    log::warning(
        "{} can't be changed in a running process and stays as it was; restart it to "
        "change it",
        next.place(option));
  }
  auto access = load_admin_access(next);
  if (!access) return access.error();
  if (auto applied = service_.apply(next); !applied) return applied.error();
  probes_.set_access(*access);
  admin_.set_access(*std::move(access));
  log::set_level(next.log_level);
  files_ = std::move(files);
  const std::lock_guard lock(mutex_);
  configuration_ = std::move(next);
  return {};
}

void Process::drain() {
  if (draining_.exchange(true)) return;
  const SteadyPoint now = clock_.steady_now();
  service_.give_all();
  std::unique_lock lock(mutex_);
  const Milliseconds delay = configuration_.drain_delay;
  drain_ends_ = now + delay + configuration_.drain_deadline;
  const std::size_t buckets = buckets_to_give_ = service_.buckets_to_give();
  if (delay.count() == 0 && buckets == 0) {
    lock.unlock();
    close_doors();
    return;
  }
  log::info("draining: not ready; new connections are taken for another {} ms", delay.count());
  if (buckets > 0) log::info("draining: others take what is stored of {} buckets", buckets);
  doors_ = std::thread([this, now] {
    pthread_setname_np(pthread_self(), "drain");
    wait_to_close(now);
  });
}

// What is given may take half of the time, so that answers in hand have the rest.
void Process::wait_to_close(SteadyPoint begun) {
  std::unique_lock lock(mutex_);
  const SteadyPoint delayed = begun + configuration_.drain_delay;
  const SteadyPoint given = delayed + configuration_.drain_deadline / 2;
  while (!ending_) {
    const SteadyPoint now = clock_.steady_now();
    if (now >= given || (now >= delayed && service_.buckets_to_give() == 0)) break;
    ending_told_.wait_for(lock, limits::drain_poll);
  }
  if (ending_) return;
  lock.unlock();
  const std::size_t left = service_.buckets_to_give();
  if (left > 0) log::warning("draining: {} buckets were not taken in time, and are lost", left);
  close_doors();
}

std::string Process::drain_text() const {
  std::unique_lock lock(mutex_);
  const std::size_t buckets = buckets_to_give_;
  lock.unlock();
  std::string giving;
  if (buckets > 0) {
    const std::size_t left = std::min(service_.buckets_to_give(), buckets);
    giving = fmt::format("{} of {} buckets are left to give; ", grouped(left), grouped(buckets));
  }
  return fmt::format("draining; {}{} connections are open\n", giving, service_.open_connections());
}

void Process::close_doors() {
  log::info("draining: no new connections once the links have ended; {} are open",
            service_.open_connections());
  service_.drain();
  const std::lock_guard lock(mutex_);
  are_doors_closed_ = true;
}

void Process::end_delay() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ending_told_.notify_all();
  if (doors_.joinable()) doors_.join();
}

// Whether the drain is over: its doors are closed, and everybody has left or the deadline is past.
bool Process::is_drained() const {
  SteadyPoint ends;
  {
    const std::lock_guard lock(mutex_);
    if (!are_doors_closed_) return false;
    ends = *drain_ends_;
  }
  const std::size_t open = service_.open_connections();
  if (open == 0) return true;
  if (clock_.steady_now() < ends) return false;
  log::warning("{} connections are still open at the drain deadline and are cut", open);
  return true;
}

int Process::end(const Signals& signals) {
  log::info("shutting down; a second signal ends the process at once");
  drain();
  while (!is_drained()) {
    const Signals::Event event = signals.wait(limits::drain_poll);
    if (event == Signals::Event::reload && access_log_ != nullptr) access_log_->reopen();
    if (event != Signals::Event::terminate) continue;
    log::warning("second signal: ending now, {} connections cut", service_.open_connections());
    log::flush();
    std::_Exit(1);  // taking all down in order could wait for an administrator, or for a purge
  }
  signals.end_at_once();  // for the same reason
  stop();
  return 0;
}

void Process::stop() {
  probes_.stop();  // first, both: their handlers ask the others
  admin_.stop();
  end_delay();
  service_.read_again_by({});
  keeper_.reset();
  discovery_.reset();
  service_.stop();
}

}  // namespace ringside::program
