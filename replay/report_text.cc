#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/limits.h"
#include "replay/report.h"

namespace ringside::replay {
namespace {

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string as_percent(std::optional<double> value) {
  return value ? fmt::format("{:.1f} %", *value) : "-";
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string as_milliseconds(std::uint64_t us) {
  return fmt::format("{:.2f} ms", static_cast<double>(us) / 1000);
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out;
}

class Writer {
 public:
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<A>(arguments)...);
    text += '\n';
  }
  std::string text;
};

void add_phases(Writer& out, const Report& report) {
  constexpr auto row = "  {:<18}{:>10}{:>10}{:>10}{:>10}{:>11}{:>11}{:>8}";
  const auto add = [&](std::string_view name, const Tally& tally) {
    out.line(row, name, grouped(tally.requests), grouped(tally.gets),
             as_percent(hit_rate_percent(tally)), as_percent(best_rate_percent(tally, report.key)),
             as_milliseconds(tally.latency.percentile_us(50)),
             as_milliseconds(tally.latency.percentile_us(99)), grouped(tally.errors));
  };
  out.line("");
  out.line(row, "", "requests", "GETs", "hit rate", "at best*", "p50", "p99", "errors");
  for (const NamedTally& phase : report.phases) {
    const bool is_change = phase.name == "during" && report.change;
    add(is_change ? fmt::format("during {} -> {}", report.change->from_replicas,
                                report.change->to_replicas)
                  : phase.name,
        phase.tally);
  }
  add("all", report.all);
}

void add_groups(Writer& out, std::string_view title, const std::vector<NamedTally>& groups,
                std::uint64_t all_requests, std::size_t most_rows) {
  if (groups.empty()) return;
  constexpr auto row = "  {:<18}{:>10}{:>10}{:>10}{:>10}";
  out.line("");
  out.line(row, title, "requests", "share", "hits", "hit rate");
  for (std::size_t i = 0; i < groups.size() && i < most_rows; ++i) {
    const Tally& tally = groups[i].tally;
    out.line(row, printable(groups[i].name), grouped(tally.requests),
             share(tally.requests, all_requests), grouped(tally.hits),
             as_percent(hit_rate_percent(tally)));
  }
  if (groups.size() > most_rows) out.line("  … and {} more", groups.size() - most_rows);
}

void add_moves(Writer& out, const Report& report) {
  if (!report.moves || !report.change) return;
  const Moves& moves = *report.moves;
  const auto from = report.change->from_replicas;
  const auto to = report.change->to_replicas;
  const auto more = std::max(from, to);
  const auto difference = more - std::min(from, to);
  out.line(
      "  {:<26}{} of {} = {} (expected {}/{} = {}){}", "keys that changed owner",
      grouped(moves.moved), grouped(moves.keys), share(moves.moved, moves.keys), difference, more,
      share(difference, more),
      to > from ? fmt::format("; {} of them not to a new replica", grouped(moves.elsewhere)) : "");
  out.line("  {:<26}{} (fetched by one replica, then missed at another)",
           "moved keys fetched again", grouped(moves.fetched_again));
}

void add_counts(Writer& out, const Report& report) {
  for (const Comparison& one : report.comparisons) {
    out.line("  {:<26}{} counted by {}, {} by /metrics: {}", one.what, grouped(one.counted),
             one.counted_by, grouped(one.by_metrics), one.agrees() ? "agree" : "DISAGREE");
  }
  const bool fetches_compared =
      !report.comparisons.empty() && report.comparisons.back().what == "origin fetches";
  if (report.origin_fetches && !fetches_compared) {
    out.line("  {:<26}{}", "origin fetches", grouped(*report.origin_fetches));
  }
  if (report.comparisons.empty()) out.line("  {:<26}{}", "errors", grouped(report.all.errors));
}

void add_problems(Writer& out, const Report& report) {
  for (std::size_t i = 0; i < report.errors.size() && i < limits::replay_rows_shown; ++i) {
    out.line("  {:<26}{} × {}", i == 0 ? "errors by reason" : "", grouped(report.errors[i].second),
             printable(report.errors[i].first));
  }
  if (report.errors.size() > limits::replay_rows_shown) {
    out.line("  {:<26}… and {} more reasons", "", report.errors.size() - limits::replay_rows_shown);
  }
  if (report.skipped == 0) return;
  out.line("  skipped                   {} lines of the log that are no request to replay:",
           grouped(report.skipped));
  for (const auto& [number, why] : report.first_skipped) out.line("    line {}: {}", number, why);
  if (report.skipped > report.first_skipped.size()) out.line("    …");
}

}  // namespace

std::string as_table(const Report& report) {
  Writer out;
  const double seconds = static_cast<double>(report.took.count()) / 1e6;
  out.line(
      "{} requests, {}, in {:.1f} s ({}/s)", grouped(report.all.requests), printable(report.source),
      seconds,
      seconds > 0
          ? grouped(static_cast<std::uint64_t>(static_cast<double>(report.all.requests) / seconds))
          : "-");
  add_phases(out, report);
  add_groups(out, "replica", report.caches, report.all.requests, report.caches.size());
  add_groups(out, "country", report.countries, report.all.requests, limits::replay_rows_shown);
  out.line("");
  add_moves(out, report);
  if (report.misses_again != 0) {
    out.line(
        "  {:<26}{} (at the replica that had fetched them before: expired, evicted, or not "
        "storable)",
        "keys missed again", grouped(report.misses_again));
  }
  add_counts(out, report);
  out.line("  {:<26}p50 {}, p99 {}", "latency",
           as_milliseconds(report.all.latency.percentile_us(50)),
           as_milliseconds(report.all.latency.percentile_us(99)));
  add_problems(out, report);
  out.line("");
  if (report.key.unknown.empty()) {
    out.line("  * the share of GETs whose target{}{} had been asked for before in this run; {}",
             report.key.has_country ? ", with the country," : "",
             report.key.has_address ? ", with the client's address," : "",
             report.is_key_assumed
                 ? fmt::format("assumed is the shard key {}: --admin tells", report.key.text)
                 : fmt::format("the tier's shard key is {}", report.key.text));
  } else {
    out.line("  * left out: {}", report.key.unknown);
  }
  return out.text;
}

}  // namespace ringside::replay
