#include "program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/terminate.h"
#include "hop/access_log.h"
#include "program/admin_access.h"
#include "program/cache_service.h"
#include "program/command_line.h"
#include "program/configuration_json.h"
#include "program/countries.h"
#include "program/discovery.h"
#include "program/peer_keys.h"
#include "program/plan_command.h"
#include "program/process.h"
#include "program/service_manager.h"
#include "program/settings.h"
#include "program/sidecar_service.h"
#include "program/signals.h"
#include "program/simulate.h"
#include "program/start_warnings.h"
#include "program/tier.h"
#include "program/version.h"
#include "replay/replay.h"

namespace ringside::program {
namespace {

constexpr int exit_success = 0;
constexpr int exit_failure = 1;
constexpr int wrong_usage = 2;

const SystemClock& system_clock() {
  static const SystemClock clock;
  return clock;
}

// One line on stderr, whatever bytes the names in it have.
void complain(std::string line) {
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  fmt::print(stderr, "{}\n", line);
}

// The one line of a failed command.
int fail(std::string_view called, const Error& error) {
  complain(fmt::format("ringside {}: {}", called, error.message));
  return error.kind == ErrorKind::invalid_input ? wrong_usage : exit_failure;
}

Result<std::unique_ptr<Service>> start_service(Command command, const Configuration& configuration,
                                               const Clock& clock, hop::AccessLog* log) {
  const auto as_service = [](auto started) -> Result<std::unique_ptr<Service>> {
    if (!started) return started.error();
    return std::unique_ptr<Service>(*std::move(started));
  };
  switch (command) {
    case Command::up:
      return as_service(Tier::start(configuration, clock, log));
    case Command::sidecar:
      return as_service(SidecarService::start(configuration, clock, log));
    case Command::cache:
      return as_service(CacheService::start(configuration, clock, log));
    case Command::shard:
      break;
  }
  crash("no service has this command", __FILE__, __LINE__);
}

Error of_access_log(const Configuration& configuration, const Error& error) {
  return invalid_input(fmt::format("{}: {}", configuration.place("access-log"), error.message));
}

// Without a file where none is asked for: `ringside log` may follow.
Result<std::unique_ptr<hop::AccessLog>> open_access_log(const Configuration& configuration,
                                                        const Clock& clock) {
  const std::size_t cores = thread_count(configuration);
  if (configuration.access_log.empty()) return hop::AccessLog::unwritten(cores, clock);
  auto opened = hop::AccessLog::open(configuration.access_log, cores, clock);
  if (opened) return opened;
  return of_access_log(configuration, opened.error());
}

Result<void> check_access_log(const Configuration& configuration) {
  if (configuration.access_log.empty()) return {};
  const auto checked = hop::AccessLog::check(configuration.access_log);
  return checked ? Result<void>{} : of_access_log(configuration, checked.error());
}

void print_summary(const Service& service, const Process& process) {
  const std::string at = service.address().text();
  fmt::print("ringside {} listens on {}, admin on {}\n", service.title(), at,
             process.admin().text());
  if (const auto probe = process.probe()) fmt::print("probes on {}\n", probe->text());
  if (const auto* const tier = dynamic_cast<const Tier*>(&service)) {
    const auto origin = tier->sample_origin();
    fmt::print("{} replicas; origin: {}\n\n", tier->membership()->size(),
               origin ? "the sample origin on " + origin->text() : "as configured");
    fmt::print("  curl -i http://{}/hello\n", at);
    fmt::print("  curl -i -H 'X-Forwarded-For: 81.2.69.160' http://{}/hello\n", at);
    fmt::print("  curl http://{}/metrics\n", process.admin().text());
    fmt::print("  ringside scale {} --admin {}\n\n", tier->membership()->size() + 1,
               process.admin().text());
  }
  static_cast<void>(std::fflush(stdout));
}

void warn(Command command, const Configuration& configuration) {
  for (const std::string& line : start_warnings(command, configuration)) log::warning("{}", line);
}

// Everything that a start reads, but for the members: those may come later.
Result<void> check_files(const Configuration& configuration) {
  if (const auto keys = load_peer_keys(configuration); !keys) return keys.error();
  if (const auto access = load_admin_access(configuration); !access) return access.error();
  if (const auto tls = load_origin_tls(configuration); !tls) return tls.error();
  if (auto log = check_access_log(configuration); !log) return log;
  if (configuration.kubeconfig.empty()) return {};
  std::string name_space = configuration.kubernetes.value_or(k8s::Target{}).name_space;
  const auto access = kubernetes_access(configuration, "kubernetes", name_space);
  return access ? Result<void>{} : access.error();
}

Result<void> validate(Command command, const Configuration& configuration) {
  if (auto checked = check_files(configuration); !checked) return checked;
  const std::size_t count = effective_routes(configuration).size();
  const std::string routes = fmt::format("{} route{}", count, count == 1 ? "" : "s");
  if (command == Command::cache) {
    fmt::print("ringside cache: the configuration is valid; {}\n", routes);
  } else {
    const auto countries = open_countries_at_start(configuration);
    if (!countries) return countries.error();
    fmt::print("ringside {}: the configuration is valid; {}, {}\n", name(command), routes,
               describe(*countries));
  }
  for (const std::string& key : unused_keys(command, configuration)) {
    fmt::print("{} is not used by ringside {}\n", key, name(command));
  }
  warn(command, configuration);
  return {};
}

// Null where nobody is named who writes the shards.
Result<std::unique_ptr<ShardKeeper>> start_keeper(const Configuration& configuration,
                                                  Service& service) {
  const auto& writer = configuration.state_writer;
  if (!writer) return std::unique_ptr<ShardKeeper>();
  std::unique_ptr<SharedState> shared;
  if (writer->config_map) {
    k8s::ConfigMapName name = *writer->config_map;
    auto access = kubernetes_access(configuration, "state-writer", name.name_space);
    if (!access) return access.error();
    shared = std::make_unique<SharedState>(name, *std::move(access));
  }
  return std::make_unique<ShardKeeper>(configuration, service, std::move(shared));
}

int run_service(const Invocation& invocation, const Configuration& configuration, FileWatch files) {
  const std::string_view called = name(invocation.command);
  const Signals signals;  // before any thread is made
  raise_open_files();
  log::set_level(configuration.log_level);
  watch_named(files, invocation.command, configuration);
  for (const std::string& key : unused_keys(invocation.command, configuration)) {
    log::info("{} is not used by ringside {}", key, called);
  }
  auto log = open_access_log(configuration, system_clock());
  if (!log) return fail(called, log.error());
  auto service = start_service(invocation.command, configuration, system_clock(), log->get());
  if (!service) return fail(called, service.error());
  auto discovery = start_discovery(configuration, **service, system_clock());
  if (!discovery) {
    (*service)->stop();
    return fail(called, discovery.error());
  }
  auto keeper = start_keeper(configuration, **service);
  if (!keeper) {
    (*service)->stop();
    return fail(called, keeper.error());
  }
  Process process(invocation, configuration, **service, system_clock(),
                  {log->get(), *std::move(discovery), *std::move(keeper), std::move(files)});
  if (auto started = process.start_admin(); !started) {
    process.stop();
    return fail(called, started.error());
  }
  warn(invocation.command, configuration);
  print_summary(**service, process);
  if (const auto told = tell_ready(std::getenv("NOTIFY_SOCKET")); !told) {
    log::warning("{}", told.error().message);
  }
  return process.run(signals);
}

int ended(std::string_view called, const Result<void>& done) {
  return done ? exit_success : fail(called, done.error());
}

int run_configured(const CommandLine& line) {
  const Invocation& invocation = line.invocation;
  const std::string_view called = name(invocation.command);
  FileWatch files;
  const auto configuration = load(invocation, &files);
  if (!configuration) return fail(called, configuration.error());
  if (invocation.show) {
    fmt::print("{}",
               to_json(invocation.command, with_country_file(invocation.command, *configuration)));
    return exit_success;
  }
  if (invocation.validate) {
    const auto validated = validate(invocation.command, *configuration);
    return validated ? exit_success : fail(called, validated.error());
  }
  if (invocation.command == Command::shard) {
    const auto told = run_shard(*configuration, line.shard);
    return told ? exit_success : fail(called, told.error());
  }
  return run_service(invocation, *configuration, std::move(files));
}

}  // namespace

int run(int argc, const char* const* argv) {
  crash_on_uncaught();
  const auto line = parse_command_line(argc, argv);
  if (!line) {
    complain(line.error().message);
    return wrong_usage;
  }
  using Verb = CommandLine::Verb;
  switch (line->verb) {
    case Verb::help:
      fmt::print("{}", line->help);
      return exit_success;
    case Verb::options:
      fmt::print("{}", options_json());
      return exit_success;
    case Verb::version:
      fmt::print("{}", version_text());
      return exit_success;
    case Verb::scale:
      return ended("scale", line->scale.dry_run ? run_plan(line->plan)
                                                : run_scale(line->scale, system_clock()));
    case Verb::split:
      return ended("split", run_split(line->split));
    case Verb::status:
      return ended("status", run_status(line->status, system_clock()));
    case Verb::topology:
      return ended("topology", run_topology(line->topology, system_clock()));
    case Verb::purge:
      return ended("purge", run_purge(line->purge));
    case Verb::explain:
      return ended("explain", run_explain(line->explain));
    case Verb::log:
      return ended("log", run_log(line->log, system_clock()));
    case Verb::plan:
      return ended("plan", run_plan(line->plan));
    case Verb::replay:
      return replay::run_replay(line->replay);
    case Verb::simulate:
      return ended("simulate", run_simulate(line->simulate, system_clock()));
    case Verb::up:
    case Verb::sidecar:
    case Verb::cache:
    case Verb::shard:
      break;
  }
  return run_configured(*line);
}

}  // namespace ringside::program
