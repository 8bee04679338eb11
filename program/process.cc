#include "program/process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "program/countries.h"

namespace ringside::program {

Process::Process(Invocation invocation, Configuration configuration, Service& service,
                 const Clock& clock)
    : invocation_(std::move(invocation)),
      service_(service),
      clock_(clock),
      configuration_(std::move(configuration)) {
  add_pages();
}

Process::~Process() { admin_.stop(); }

Result<void> Process::start_admin() {
  auto started = admin_.start(configuration_.admin);
  if (!started) return start_failure(started.error());
  return {};
}

FileWatch Process::watch() const {
  std::vector<std::string> files;
  if (!invocation_.config_file.empty()) files.push_back(invocation_.config_file);
  if (invocation_.command != Command::cache) {
    const std::lock_guard lock(mutex_);
    const std::string geo = country_file(configuration_);
    if (!geo.empty()) files.push_back(geo);
  }
  return FileWatch(std::move(files));
}

int Process::run(const Signals& signals) {
  FileWatch files = watch();
  while (true) {
    const Signals::Event event = signals.wait(limits::file_poll);
    if (event == Signals::Event::terminate) return end(signals);
    const bool changed = files.look();
    if (event != Signals::Event::reload && !changed) continue;
    // Looked at before they are read: what changes meanwhile is told of again.
    FileWatch before = watch();
    if (!reload()) continue;
    FileWatch after = watch();
    files = before.paths() == after.paths() ? std::move(before) : std::move(after);
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
  auto next = load(invocation_);
  if (!next) return next.error();
  for (const std::string& option : keep_fixed(configuration_, *next)) {
    log::warning(
        "{} can't be changed in a running process and stays as it was; restart it to "
        "change it",
        next->place(option));
  }
  if (auto applied = service_.apply(*next); !applied) return applied.error();
  log::set_level(next->log_level);
  const std::lock_guard lock(mutex_);
  configuration_ = *std::move(next);
  return {};
}

void Process::drain() {
  if (draining_.exchange(true)) return;
  log::info("draining: {} connections are open", service_.open_connections());
  service_.drain();
}

int Process::end(const Signals& signals) {
  drain();
  const SteadyPoint until = clock_.steady_now() + configuration_.drain_deadline;
  int code = 0;
  while (service_.open_connections() != 0) {
    if (clock_.steady_now() >= until) {
      log::warning("{} connections are still open at the drain deadline and are cut",
                   service_.open_connections());
      break;
    }
    if (signals.wait(limits::drain_poll) == Signals::Event::terminate) {
      log::warning("told to end twice: {} connections are cut", service_.open_connections());
      code = 1;
      break;
    }
  }
  admin_.stop();  // first: its handlers ask the service
  service_.stop();
  return code;
}

}  // namespace ringside::program
