#include "program/plan_flags.h"

#include <string_view>
#include <utility>

#include "base/limits.h"
#include "program/plan_target.h"
#include "program/values.h"

namespace ringside::program {
namespace {

struct ReportFlags {
  CLI::Option* at_most;
  CLI::Option* json;
};

ReportFlags add_report_flags(CLI::App& app, PlanTexts& texts, PlanOptions& out) {
  return {
      app.add_option("--at-most", texts.share_most, "Exit with 1 where a larger share would move")
          ->type_name("PERCENT%"),
      app.add_flag("--json", out.json, "JSON instead of lines")};
}

Result<void> read_share_most(const PlanTexts& texts, PlanOptions& out) {
  if (texts.share_most.empty()) return {};
  const auto share = parse_share(texts.share_most);
  if (!share) return invalid_input("--at-most: " + share.error().message);
  out.share_most = *share;
  return {};
}

}  // namespace

void add_plan_flags(CLI::App& app, PlanTexts& texts, PlanOptions& out) {
  app.add_option("--to", out.to,
                 "How many replicas there are to be, or NAME[=HOST:PORT][;weight=N],… for all of "
                 "them, or a file with a topology (default: those that there are)")
      ->type_name("N|NAME,...|@FILE");
  app.add_option("--scheme", out.scheme, "The scheme there is to be (default: the present one)")
      ->type_name("NAME");
  CLI::Option* const admin = app.add_option(
      "--admin", texts.admins,
      "Where the tier has its admin pages (default 127.0.0.1:9090). The first tells the topology; "
      "give those of the replicas too, for what they have stored. `up` tells of all");
  admin->type_name("ADDRESS:PORT,...");
  app.add_option("--from", out.from, "A file with the present topology, instead of a running tier")
      ->type_name("FILE")
      ->excludes(admin);
  app.add_option("--move-rate", texts.move_rate,
                 "MiB a second that come into a replica (default: as the tier has it, else 100)")
      ->type_name("N");
  add_report_flags(app, texts, out);
}

Result<void> read_plan_flags(const PlanTexts& texts, PlanOptions& out) {
  if (out.to.empty() && out.scheme.empty()) {
    return invalid_input("nothing is to change; give --to, --scheme or both");
  }
  if (!texts.admins.empty()) {
    out.admins.clear();
    for (const std::string_view text : split_list(texts.admins)) {
      auto admin = Endpoint::parse(text);
      if (!admin) return invalid_input("--admin: " + admin.error().message);
      out.admins.push_back(*std::move(admin));
    }
  }
  if (!texts.move_rate.empty()) {
    const auto rate = parse_number(texts.move_rate, 0, limits::move_rate_most_mib_s);
    if (!rate) return invalid_input("--move-rate: " + rate.error().message);
    out.move_rate_mib_s = static_cast<std::size_t>(*rate);
  }
  return read_share_most(texts, out);
}

void add_dry_run_flags(CLI::App& app, CLI::Option& dry_run, PlanTexts& texts, PlanOptions& out) {
  const ReportFlags flags = add_report_flags(app, texts, out);
  flags.at_most->needs(&dry_run);
  flags.json->needs(&dry_run);
}

Result<void> read_dry_run_flags(const PlanTexts& texts, const ScaleOptions& scale,
                                PlanOptions& out) {
  out.to = std::to_string(*scale.replicas);
  out.admins = {scale.admin};
  out.token = scale.token;
  return read_share_most(texts, out);
}

}  // namespace ringside::program
