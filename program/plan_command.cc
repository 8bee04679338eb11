#include "program/plan_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "http/fields.h"
#include "http1/admin_client.h"
#include "program/plan.h"
#include "program/plan_report.h"
#include "program/plan_target.h"
#include "program/stored_shards.h"
#include "replay/scrape.h"
#include "shard/topology_json.h"

namespace ringside::program {
namespace {

Error at(std::string_view place, const Error& error) {
  Error out = error;
  out.message = fmt::format("{}: {}", place, error.message);
  return out;
}

Error refusal(const Endpoint& admin, std::string_view page, const http::AdminAnswer& answer) {
  const std::string_view line = std::string_view(answer.body).substr(0, answer.body.find('\n'));
  return Error{ErrorKind::internal, ErrorSource::peer, Retry::no,
               fmt::format("{}: refused GET {} with {}: {}; give the --admin of a tier",
                           admin.text(), page, answer.status, http::trimmed(line))};
}

Result<std::string> ask(const PlanOptions& asked, const Endpoint& admin, const char* page) {
  auto answer = http::ask_admin(admin, "GET", page, "", limits::admin_timeout, asked.token);
  if (!answer) return answer.error();
  constexpr int ok = 200;
  if (answer->status == ok) return std::move(answer->body);
  return refusal(admin, page, *answer);
}

Result<std::string> read_document(std::string_view option, const std::string& path) {
  auto text = read_file(path, limits::admin_body_size_bytes);
  if (text) return text;
  return invalid_input(fmt::format("{}: {}; name a file with a topology, as GET /topology tells it",
                                   option, text.error().message));
}

Result<TopologyPointer> present_topology(const PlanOptions& asked) {
  if (!asked.from.empty()) {
    const auto document = read_document("--from", asked.from);
    if (!document) return document.error();
    auto topology = read_topology(*document);
    if (!topology) return at(asked.from, topology.error());
    return topology;
  }
  const Endpoint& admin = asked.admins.front();
  const auto document = ask(asked, admin, "/topology");
  if (!document) return document.error();
  auto topology = read_topology(*document);
  if (topology) return topology;
  return Error{ErrorKind::internal, ErrorSource::peer, Retry::no,
               fmt::format("{}: its topology can't be read: {}; is it the same release?",
                           admin.text(), topology.error().message)};
}

// What the processes that were named tell of the stores of the topology's members.
Result<void> ask_stores(const PlanOptions& asked, PlanBasis& basis) {
  for (const Endpoint& admin : asked.admins) {
    const auto page = ask(asked, admin, "/metrics");
    if (!page) return page.error();
    const auto scrape = replay::Scrape::parse(*page);
    if (!scrape) return at(admin.text(), scrape.error());
    for (const shard::Member& member : basis.before->members()) {
      const replay::Scrape::Labels its{{"shard", member.name}};
      if (!scrape->has("ringside_store_bytes", its)) continue;
      basis.stores[member.name] = {
          scrape->sum("ringside_store_entries", its), scrape->sum("ringside_store_bytes", its),
          scrape->sum("ringside_requests_total", {{"shard", member.name}, {"role", "cache"}})};
    }
  }
  return {};
}

// Likewise of its shards, as the plan cuts them. Older releases have no such page. What is on
// either side of a cut may not be told: to who has no token, of a topology that is too large, or by
// a replica that does not know its scheme. Then each unit counts as one, which the plan says.
Result<void> ask_shards(const PlanOptions& asked, PlanBasis& basis) {
  if (!basis.before->state().has_shards()) return {};
  const std::size_t shards = basis.before->state().shards.size();
  const bool cuts =
      basis.after->extends(*basis.before) && basis.after->state().shards.size() > shards;
  const auto& topology = cuts ? *basis.after : *basis.before;
  const std::string body = cuts ? shard::to_json(topology) : std::string();
  for (const Endpoint& admin : asked.admins) {
    const auto answer = http::ask_admin(admin, cuts ? "POST" : "GET", "/shards", body,
                                        limits::admin_timeout, asked.token);
    constexpr int ok = 200;
    constexpr int not_found = 404;
    if (cuts && (!answer || answer->status != ok)) continue;
    if (!answer) return answer.error();
    if (answer->status == not_found) continue;
    if (answer->status != ok) return refusal(admin, "/shards", *answer);
    auto stored = parse_stored_shards(answer->body, topology);
    if (!stored) return at(admin.text(), stored.error());
    for (StoredShards& of : *stored) basis.stored_shards[of.replica] = std::move(of.responses);
  }
  return {};
}

// What the tier has: who stores and tells of no rate has the rate 0, and a sidecar has neither.
std::size_t move_rate_of_tier(const std::string& configuration) {
  const auto page = parse_strict_json(configuration);
  if (!page || !page->is_object()) return limits::move_rate_mib_s;
  const auto found = page->find("move_rate");
  if (found != page->end() && found->is_number_unsigned()) return found->get<std::size_t>();
  return page->contains("memory") ? 0 : limits::move_rate_mib_s;
}

Result<PlanBasis> ask_basis(const PlanOptions& asked) {
  PlanBasis basis;
  auto before = present_topology(asked);
  if (!before) return before.error();
  basis.before = *std::move(before);
  if (asked.from.empty()) {
    if (auto stores = ask_stores(asked, basis); !stores) return stores.error();
    const auto configuration = ask(asked, asked.admins.front(), "/config");
    if (!configuration) return configuration.error();
    basis.move_rate_mib_s = move_rate_of_tier(*configuration);
  }
  basis.move_rate_mib_s = asked.move_rate_mib_s.value_or(basis.move_rate_mib_s);
  return basis;
}

Result<TopologyPointer> wanted_topology(const PlanOptions& asked, const shard::Topology& present) {
  PlanTarget target{asked.to, asked.scheme};
  const bool is_file = asked.to.starts_with('@');
  if (is_file) {
    auto document = read_document("--to", asked.to.substr(1));
    if (!document) return document.error();
    target.document = *std::move(document);
  }
  auto topology = target_topology(present, target);
  if (topology) return topology;
  return at(is_file            ? asked.to.substr(1)
            : asked.to.empty() ? "--scheme"
                               : "--to",
            topology.error());
}

}  // namespace

Result<void> run_plan(const PlanOptions& asked) {
  auto basis = ask_basis(asked);
  if (!basis) return basis.error();
  auto after = wanted_topology(asked, *basis->before);
  if (!after) return after.error();
  basis->after = *std::move(after);
  if (asked.from.empty()) {
    if (auto shards = ask_shards(asked, *basis); !shards) return shards.error();
  }
  const Plan plan = make_plan(*basis);
  std::fputs((asked.json ? to_json(plan) : to_text(plan)).c_str(), stdout);
  std::fflush(stdout);
  if (!asked.share_most || plan.moved_share() <= *asked.share_most) return {};
  constexpr double percent = 100;
  return Error{
      ErrorKind::refused, ErrorSource::ourselves, Retry::no,
      fmt::format("{:.2f} %{} would move, more than --at-most {:.2f}%; change less at "
                  "once, or allow for more",
                  percent * plan.moved_share(), plan.stored_share ? " of what is stored" : "",
                  percent * *asked.share_most)};
}

}  // namespace ringside::program
