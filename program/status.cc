#include "program/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/json.h"
#include "base/limits.h"
#include "http1/admin_client.h"
#include "metrics/outcome.h"
#include "program/quantities.h"
#include "replay/scrape.h"

namespace ringside::program {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using replay::Scrape;

constexpr int available = 200;
constexpr int unavailable = 503;
constexpr double hundred_percent = 100;

Error no_status(const std::string& admin, std::string_view why) {
  return {ErrorKind::malformed, ErrorSource::peer, Retry::no,
          fmt::format("{}: what answers there is no admin page of this release ({}); give "
                      "--admin the address that the process printed behind \"admin on\"",
                      admin, why)};
}

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Traffic {
  double requests = 0;
  double judged = 0;  // neither bypassed nor failed
  double hits = 0;
};

// Of the sidecar, where the process has one; else of its replica.
Traffic traffic_of(const Scrape& scrape) {
  const std::string family = "ringside_requests_total";
  const char* const role = scrape.has(family, {{"role", "sidecar"}}) ? "sidecar" : "cache";
  Traffic traffic;
  for (std::size_t i = 0; i < metrics::outcome_count; ++i) {
    const auto outcome = static_cast<metrics::Outcome>(i);
    const double count =
        scrape.sum(family, {{"role", role}, {"result", std::string(metrics::name(outcome))}});
    traffic.requests += count;
    if (metrics::is_hit(outcome)) traffic.hits += count;
    const bool is_judged =
        outcome != metrics::Outcome::bypass && outcome != metrics::Outcome::error;
    if (is_judged) traffic.judged += count;
  }
  return traffic;
}

void read_metrics(const Scrape& before, const Scrape& now, Milliseconds between,
                  ProcessStatus& out) {
  const Traffic first = traffic_of(before);
  const Traffic last = traffic_of(now);
  const double seconds = std::chrono::duration<double>(between).count();
  if (seconds > 0) out.requests_per_second = (last.requests - first.requests) / seconds;
  const double judged = last.judged - first.judged;
  if (judged > 0) out.hit_rate = (last.hits - first.hits) / judged;
  out.ejected = whole(now.sum("ringside_replicas_ejected"));
  const char* const reload = "ringside_configuration_last_reload_successful";
  out.is_last_reload_refused = now.has(reload) && now.sum(reload) == 0;
  for (ProcessStatus::Replica& replica : out.replicas) {
    const Scrape::Labels shard{{"shard", replica.name}};
    if (!now.has("ringside_store_entries", shard)) continue;
    replica.entries = whole(now.sum("ringside_store_entries", shard));
    replica.stored_bytes = whole(now.sum("ringside_store_bytes", shard));
    replica.buckets_away = whole(now.sum("ringside_buckets_away", shard));
  }
}

void read_topology(const json& page, ProcessStatus& out) {
  out.topology_id = page.at("id").get<std::string>();
  out.topology_version = page.at("version").get<std::uint64_t>();
  out.scheme = page.at("scheme").get<std::string>();
  for (const json& member : page.at("members")) {
    ProcessStatus::Replica replica;
    replica.name = member.at("name").get<std::string>();
    if (!member.at("share").is_null()) replica.share = member.at("share").get<double>();
    if (member.contains("ready")) replica.is_ready = member.at("ready").get<bool>();
    out.replicas.push_back(std::move(replica));
  }
}

std::string text_of(const ProcessStatus::Replica& replica) {
  constexpr double mebibyte = limits::kMiB;
  std::string line = fmt::format("  {:<16}", replica.name);
  line += replica.share ? fmt::format("{:>6.1f} %", *replica.share * hundred_percent)
                        : fmt::format("{:>8}", "-");
  if (!replica.entries) {
    line += fmt::format("{:>12}{:>12}{:>8}", "-", "-", "-");
  } else {
    line += fmt::format("{:>12}{:>12.1f}{:>8}", grouped(*replica.entries),
                        static_cast<double>(replica.stored_bytes) / mebibyte,
                        grouped(replica.buckets_away));
  }
  return line + (replica.is_ready == false ? "  not ready\n" : "\n");
}

// All but what is counted, which is looked at later a second time.
Result<StatusPages> ask_first(const Endpoint& address, const std::string& token) {
  StatusPages pages;
  const auto readyz = http::ask_admin(address, "GET", "/readyz", "", limits::admin_timeout, token);
  if (!readyz) return readyz.error();
  pages.readiness = readyz->status;
  pages.readyz = readyz->body;
  auto topology = ask_page(address, token, "GET", "/topology");
  if (!topology) return topology.error();
  pages.topology = *std::move(topology);
  auto metrics = ask_page(address, token, "GET", "/metrics");
  if (!metrics) return metrics.error();
  pages.metrics_before = *std::move(metrics);
  return pages;
}

Result<ProcessStatus> ask_again(const Endpoint& address, const std::string& token,
                                StatusPages pages, Milliseconds between) {
  auto metrics = ask_page(address, token, "GET", "/metrics");
  if (!metrics) return metrics.error();
  pages.metrics = *std::move(metrics);
  pages.between = between;
  return status_of(address.text(), pages);
}

}  // namespace

void add_status_flags(CLI::App& app, StatusOptions& out) {
  app.add_flag("--json", out.json, "JSON instead of lines");
}

Result<ProcessStatus> status_of(const std::string& admin, const StatusPages& pages) {
  ProcessStatus out;
  out.admin = admin;
  if (pages.readiness != available && pages.readiness != unavailable) {
    return no_status(admin, fmt::format("GET /readyz is answered {}", pages.readiness));
  }
  out.is_ready = pages.readiness == available;
  out.lines = lines_of(pages.readyz);
  const auto page = parse_strict_json(pages.topology);
  if (!page) return no_status(admin, "GET /topology gives no JSON");
  const auto before = Scrape::parse(pages.metrics_before);
  const auto now = Scrape::parse(pages.metrics);
  if (!before) return no_status(admin, before.error().message);
  if (!now) return no_status(admin, now.error().message);
  try {
    read_topology(*page, out);
  } catch (const json::exception& failure) {
    return no_status(admin, failure.what());
  }
  read_metrics(*before, *now, pages.between, out);
  return out;
}

std::vector<std::string> ailments(const std::vector<ProcessStatus>& processes) {
  std::vector<std::string> found;
  for (const ProcessStatus& process : processes) {
    const auto note = [&](std::string_view what) {
      found.push_back(fmt::format("{} {}", process.admin, what));
    };
    if (!process.is_ready) note(process.lines.empty() ? "is not ready" : "is " + process.lines[0]);
    if (process.ejected > 0) {
      note(fmt::format("does not ask {} of its replicas", process.ejected));
    }
    if (process.is_last_reload_refused) note("has refused its last reload");
    if (process.topology_id != processes.front().topology_id) {
      note(fmt::format("follows another topology than {}", processes.front().admin));
    }
  }
  return found;
}

std::string to_text(const ProcessStatus& process) {
  std::string text = process.admin + "\n";
  for (const std::string& line : process.lines) text += fmt::format("  {}\n", line);
  fmt::format_to(
      std::back_inserter(text), "  requests: {:.0f} a second, hits: {}\n",
      process.requests_per_second,
      process.hit_rate ? fmt::format("{:.1f} %", *process.hit_rate * hundred_percent) : "-");
  fmt::format_to(std::back_inserter(text), "  {:<16}{:>8}{:>12}{:>12}{:>8}\n", process.scheme,
                 "share", "responses", "MiB", "away");
  for (const auto& replica : process.replicas) text += text_of(replica);
  return text;
}

std::string to_json(const std::vector<ProcessStatus>& processes,
                    const std::vector<std::string>& wrong) {
  ordered_json page;
  page["wrong"] = wrong;
  page["processes"] = ordered_json::array();
  for (const ProcessStatus& process : processes) {
    ordered_json one{{"admin", process.admin},
                     {"ready", process.is_ready},
                     {"readyz", process.lines},
                     {"topology_id", process.topology_id},
                     {"topology_version", process.topology_version},
                     {"scheme", process.scheme},
                     {"requests_per_second", process.requests_per_second},
                     {"hit_rate", nullptr},
                     {"replicas_ejected", process.ejected},
                     {"last_reload_refused", process.is_last_reload_refused},
                     {"replicas", ordered_json::array()}};
    if (process.hit_rate) one["hit_rate"] = *process.hit_rate;
    for (const auto& replica : process.replicas) {
      ordered_json row{{"name", replica.name}, {"share", nullptr}};
      if (replica.share) row["share"] = *replica.share;
      if (replica.is_ready) row["ready"] = *replica.is_ready;
      if (replica.entries) {
        row["stored_responses"] = *replica.entries;
        row["stored_bytes"] = replica.stored_bytes;
        row["buckets_away"] = replica.buckets_away;
      }
      one["replicas"].push_back(std::move(row));
    }
    page["processes"].push_back(std::move(one));
  }
  return page.dump(2) + "\n";
}

Result<void> run_status(const StatusOptions& options, const Clock& clock) {
  const AdminPages& asked = options.pages;
  const SteadyPoint begun = clock.steady_now();
  std::vector<Result<StatusPages>> pages;
  for (const Endpoint& address : asked.addresses) pages.push_back(ask_first(address, asked.token));
  std::this_thread::sleep_for(limits::status_interval);
  const auto between = std::chrono::duration_cast<Milliseconds>(clock.steady_now() - begun);

  std::vector<ProcessStatus> processes;
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    auto process = pages[i] ? ask_again(asked.addresses[i], asked.token, *pages[i], between)
                            : Result<ProcessStatus>(pages[i].error());
    if (process) {
      processes.push_back(*std::move(process));
    } else {
      wrong.push_back(process.error().message);
    }
  }
  for (std::string& ailment : ailments(processes)) wrong.push_back(std::move(ailment));
  if (options.json) std::fputs(to_json(processes, wrong).c_str(), stdout);
  for (const ProcessStatus& process : processes) {
    if (!options.json) std::fputs(to_text(process).c_str(), stdout);
  }
  std::fflush(stdout);
  if (wrong.empty()) return {};
  return Error{ErrorKind::refused, ErrorSource::peer, Retry::no,
               fmt::format("not well: {}", fmt::join(wrong, "; "))};
}

}  // namespace ringside::program
