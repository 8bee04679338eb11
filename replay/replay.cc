#include "replay/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <thread>

#include "base/limits.h"
#include "replay/client.h"
#include "replay/live_line.h"
#include "replay/report.h"
#include "replay/tier.h"
#include "replay/traffic.h"

namespace ringside::replay {
namespace {

// A file that is written at the end; opened at the start, so that a run is not lost to a bad name.
class OutputFile {
 public:
  Result<void> open(const std::string& path) {
    if (path.empty() || path == "-") return {};
    path_ = path;
    file_.open(path, std::ios::binary | std::ios::trunc);
    if (file_) return {};
    return invalid_input(fmt::format("{}: {}; give a file that can be written", path,
                                     std::generic_category().message(errno)));
  }
  Result<void> write(std::string_view text) {
    if (path_.empty()) return {};
    file_.write(text.data(), static_cast<std::streamsize>(text.size()));
    file_.close();
    if (file_) return {};
    return invalid_input(fmt::format("{}: could not be written whole; is the disk full?", path_));
  }

 private:
  std::string path_;
  std::ofstream file_;
};

// One run, from its options to its report.
class Run {
 public:
  explicit Run(const ReplayOptions& options)
      : options_(options), live_(::isatty(STDOUT_FILENO) == 1 && options.json_file != "-") {}

  // Whether the options make sense, before anything is done.
  Result<void> check() const;
  Result<Report> run();
  Result<void> write(const Report& report);

 private:
  Result<void> prepare();
  Result<void> change_replicas(Client& client, const Tier& tier);
  // True: everything was answered.
  bool watch(Client& client, std::string_view phase);
  void compare_with(const Tier& tier, Report& report, const Journal& journal);
  [[nodiscard]] std::string source() const;
  [[nodiscard]] std::uint64_t change_at() const;

  const ReplayOptions& options_;
  const SystemClock clock_;
  LiveLine live_;
  AccessLog log_;
  std::shared_ptr<const geo::CountryDatabase> countries_;
  OutputFile json_, lines_;
  TierFigures before_;
  std::optional<TierKey> key_;  // where the tier was asked for it
  std::optional<Change> change_;
  std::optional<Error> comparison_error_;
};

Result<void> Run::check() const {
  if (options_.concurrency < 1 || options_.concurrency > limits::replay_concurrency) {
    return invalid_input(fmt::format("--concurrency {}: give 1 to {}", options_.concurrency,
                                     limits::replay_concurrency));
  }
  if (options_.log.empty() && options_.generated_requests > limits::replay_requests) {
    return invalid_input(fmt::format("--requests {}: give 1 to {}", options_.generated_requests,
                                     limits::replay_requests));
  }
  if (!options_.scale) return {};
  if (!options_.admin) {
    return invalid_input("--scale needs --admin, the admin address of the running tier");
  }
  if (!(options_.scale->at_percent > 0 && options_.scale->at_percent < 100)) {
    return invalid_input("--scale-at: give a percentage of the requests between 0 and 100");
  }
  return {};
}

Result<void> Run::prepare() {
  if (auto opened = json_.open(options_.json_file); !opened) return opened;
  if (auto opened = lines_.open(options_.lines_file); !opened) return opened;
  if (!options_.geo.empty()) {
    auto database = geo::CountryDatabase::open(options_.geo);
    if (!database) return database.error();
    countries_ = *database;
  }
  if (options_.log.empty()) {
    TrafficPlan plan;
    plan.seed = options_.seed;
    plan.requests = options_.limit == 0
                        ? options_.generated_requests
                        : std::min<std::size_t>(options_.generated_requests, options_.limit);
    log_.requests = generate_traffic(plan);
    return {};
  }
  auto read = read_access_log(options_.log, options_.limit);
  if (!read) return read.error();
  log_ = std::move(*read);
  return {};
}

std::uint64_t Run::change_at() const {
  const double at = static_cast<double>(log_.requests.size()) * options_.scale->at_percent / 100;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(at));
}

bool Run::watch(Client& client, std::string_view phase) {
  const bool done = client.wait_until_done(limits::replay_look);
  live_.show(client.progress(), log_.requests.size(), phase, clock_.steady_now());
  return done;
}

// In the midst of the traffic. Whatever has been sent when the order is given counts as before it.
Result<void> Run::change_replicas(Client& client, const Tier& tier) {
  const std::uint64_t total = log_.requests.size();
  const std::uint64_t at = change_at();
  while (!client.wait_until_sent(at, limits::replay_look)) watch(client, "before");
  const auto from = tier.replicas();
  if (!from) return from.error();
  Change change{*from, options_.scale->replicas, at / 2, client.progress().sent, total};
  if (auto ordered = tier.scale(change.to_replicas); !ordered) return ordered;
  const SteadyPoint give_up = clock_.steady_now() + limits::replay_settle_timeout;
  while (true) {
    const auto settled = tier.settled(change.to_replicas);
    if (!settled) return settled.error();
    if (*settled) break;
    if (clock_.steady_now() > give_up) {
      return Error{ErrorKind::timeout, ErrorSource::peer, Retry::no,
                   fmt::format("the change to {} replicas has not settled within {} s",
                               change.to_replicas, limits::replay_settle_timeout.count() / 1000)};
    }
    watch(client, "during");
  }
  // A change that is over at once still gets a share of the traffic that is told apart.
  const std::uint64_t least = change.during + (total - at) / 5;
  change.after = std::min(total, std::max(client.progress().sent, least));
  change_ = change;
  return {};
}

// Counts are taken after an answer was sent, so the last ones may show a moment later.
void Run::compare_with(const Tier& tier, Report& report, const Journal& journal) {
  const SteadyPoint give_up = clock_.steady_now() + limits::replay_agree_timeout;
  while (true) {
    const auto after = tier.figures();
    if (!after) {
      comparison_error_ = after.error();
      return;
    }
    compare(report, log_.requests, journal, before_, *after);
    const bool agree = std::all_of(report.comparisons.begin(), report.comparisons.end(),
                                   [](const Comparison& one) { return one.agrees(); });
    if (agree || clock_.steady_now() > give_up) return;
    std::this_thread::sleep_for(limits::replay_look);
  }
}

std::string Run::source() const {
  const std::string what =
      options_.log.empty() ? fmt::format("generated (seed {})", options_.seed)
                           : fmt::format("from {}", options_.log == "-" ? "stdin" : options_.log);
  return fmt::format("{}, to {}, {} at a time", what, options_.to.text(), options_.concurrency);
}

Result<Report> Run::run() {
  if (auto prepared = prepare(); !prepared) return prepared.error();
  std::optional<Tier> tier;
  if (options_.admin) {
    tier = Tier::at(*options_.admin, options_.admin_token);
    const auto figures = tier->figures();
    if (!figures) return figures.error();
    before_ = *figures;
    auto key = tier->key();
    key_ = key ? *std::move(key) : TierKey{true, false, {}, key.error().message};
  }
  ClientSettings settings{options_.to,
                          options_.host,
                          options_.client_field,
                          options_.concurrency,
                          options_.rate_per_second,
                          limits::replay_answer_timeout};
  Client client(settings, log_.requests, clock_);
  if (auto started = client.start(); !started) {
    return Error{started.error().kind, started.error().source, Retry::no,
                 fmt::format("{}; is the tier running, and is this its data address (--to)?",
                             started.error().message)};
  }
  const SteadyPoint began = clock_.steady_now();
  if (options_.scale) {
    if (auto changed = change_replicas(client, *tier); !changed) return changed.error();
  }
  while (!watch(client, change_ ? "after" : "")) continue;
  const auto took = clock_.steady_now() - began;
  const Journal journal = client.finish();
  live_.clear();
  Report report = summarise(log_.requests, journal, change_, countries_, key_.value_or(TierKey{}));
  report.is_key_assumed = !key_;
  if (tier) compare_with(*tier, report, journal);
  if (comparison_error_) return *comparison_error_;
  report.source = source();
  report.took = took;
  report.skipped = log_.skipped;
  report.first_skipped = log_.first_skipped;
  if (auto written = lines_.write(as_lines(log_.requests, journal)); !written) {
    return written.error();
  }
  return report;
}

Result<void> Run::write(const Report& report) {
  const std::string text = options_.json_file == "-" ? as_json(report) : as_table(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return json_.write(as_json(report));
}

}  // namespace

int run_replay(const ReplayOptions& options) {
  constexpr int success = 0;
  constexpr int failure = 1;
  constexpr int wrong_usage = 2;
  const auto fail = [](const Error& error, int code) {
    fmt::print(stderr, "ringside replay: {}\n", error.message);
    return code;
  };
  Run run(options);
  if (const auto checked = run.check(); !checked) return fail(checked.error(), wrong_usage);
  const auto report = run.run();
  if (!report) return fail(report.error(), failure);
  if (const auto written = run.write(*report); !written) return fail(written.error(), failure);
  return report->is_good() ? success : failure;
}

}  // namespace ringside::replay
