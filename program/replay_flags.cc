#include "program/replay_flags.h"

#include <cstdint>
#include <utility>

#include "base/limits.h"
#include "program/values.h"

namespace ringside::program {

void add_replay_flags(CLI::App& app, ReplayTexts& texts, replay::ReplayOptions& options) {
  CLI::Option* const log = app.add_option(
      "LOG", options.log, "Access log in Combined Log Format; -: stdin; none: generated traffic");
  app.add_option("--to", texts.to, "Where the sidecar listens")
      ->type_name("ADDRESS:PORT")
      ->required();
  app.add_option("--host", options.host, "The Host field (default: --to)")->type_name("HOST");
  app.add_flag("--forwarded", texts.forwarded,
               "Tell the client in Forwarded instead of X-Forwarded-For");
  app.add_option("--requests", options.generated_requests, "How many to generate, without a LOG")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, limits::replay_requests))
      ->excludes(log);
  app.add_option("--seed", options.seed, "Of the generated traffic")->type_name("N");
  app.add_option("--concurrency", options.concurrency, "Requests in flight (default 16)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, limits::replay_concurrency));
  app.add_option("--rate", options.rate_per_second, "Requests a second (default: no limit)")
      ->type_name("N");
  app.add_option("--limit", options.limit, "Stop after so many (default: all)")->type_name("N");
  app.add_option("--admin", texts.admin.addresses,
                 "The tier's admin address: compares with /metrics")
      ->type_name("ADDRESS:PORT");
  add_admin_token_flag(app, texts.admin);
  app.add_option("--scale", texts.scale_to, "Scale `ringside up` to N in the middle; needs --admin")
      ->type_name("N");
  app.add_option("--scale-at", texts.scale_at, "When: percent of the requests (default 50)")
      ->type_name("PERCENT");
  app.add_option("--geo", options.geo, "Country database, for the table by country")
      ->type_name("FILE");
  app.add_option("--json", options.json_file, "The figures as JSON; -: stdout instead of the table")
      ->type_name("FILE");
  app.add_option("--lines", options.lines_file, "One line for each request")->type_name("FILE");
}

Result<void> read_replay_flags(const ReplayTexts& texts, replay::ReplayOptions& out) {
  auto to = Endpoint::parse(texts.to);
  if (!to) return invalid_input("--to: " + to.error().message);
  out.to = *std::move(to);
  AdminPages pages;
  if (auto read = read_admin_flags(texts.admin, pages); !read) return read;
  out.admin_token = pages.token;
  if (texts.forwarded) out.client_field = replay::ClientField::forwarded;
  if (pages.addresses.size() > 1) return invalid_input("--admin: one address is compared with");
  if (!texts.admin.addresses.empty()) out.admin = pages.addresses.front();
  if (texts.scale_to.empty()) return {};
  if (!out.admin) return invalid_input("--scale: needs to know whom to ask; give --admin too");
  const auto replicas = parse_number(texts.scale_to, 1, limits::members);
  if (!replicas) return invalid_input("--scale: " + replicas.error().message);
  constexpr std::uint64_t most_percent = 99;
  const auto percent = parse_number(texts.scale_at, 1, most_percent);
  if (!percent) return invalid_input("--scale-at: " + percent.error().message);
  out.scale =
      replay::ScaleStep{static_cast<std::uint32_t>(*replicas), static_cast<double>(*percent)};
  return {};
}

}  // namespace ringside::program
