#include "program/split.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <vector>

#include "base/quotation.h"
#include "program/key_text.h"

namespace ringside::program {
namespace {

constexpr int was_cut = 200;
constexpr int nobody_writes = 404;

// Those that are new, or are not as they were. A cut names owners that nobody had named: they stay.
void print_shards(const std::vector<shard::Shard>& before,
                  const std::vector<shard::Shard>& shards) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const bool was_there = i < before.size() && shards[i].at == before[i].at;
    const bool stays = was_there && (before[i].owner.empty() || before[i].owner == shards[i].owner);
    if (stays) continue;
    const std::string& route = shards[i].route;
    fmt::print("           {} {}{} of {}\n", i, route.empty() ? "" : route + " ",
               quotation(key_text_of_at(shards[i].at)),
               shards[i].owner.empty() ? "nobody in particular" : shards[i].owner);
  }
}

// Where nobody writes the state, each process is told what it is.
Result<void> tell_all(const AdminPages& pages, const std::string& present,
                      const shard::TopologyRequest& next) {
  if (auto reached = shard::parse_topology_json(present); !reached) return reached.error();
  const std::string body = shard::to_json(next);
  for (const Endpoint& address : pages.addresses) {
    if (auto put = ask_page(address, pages.token, "PUT", "/topology", body); !put) {
      return put.error();
    }
  }
  return {};
}

}  // namespace

void add_split_flags(CLI::App& app, SplitOptions& out) {
  app.add_option("SHARD", out.cut.shard, "Its number or its name, as GET /topology tells");
  app.add_option("--at", out.cut.at,
                 "Where it is cut, or the key that is placed; may be given again")
      ->type_name("KEY")
      ->allow_extra_args(false);
  app.add_option("--route", out.cut.route, "The route that has the shards, where several have some")
      ->type_name("NAME");
  app.add_option("--to", out.cut.to, "The replica that has the new one; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

Result<shard::TopologyRequest> split_topology(const std::string& answer,
                                              const SplitOptions& options) {
  auto request = shard::parse_topology_json(answer, shard::Addresses::not_needed);
  if (!request) return request.error();
  std::vector<shard::Member> members;
  for (const shard::MemberAt& at : request->members) members.push_back(at.member);
  const auto topology = shard::Topology::make(std::move(members), request->scheme, request->version,
                                              request->state.value_or(shard::State{}));
  if (!topology) return topology.error();
  auto state = state_after(**topology, options.cut);
  if (!state) return state.error();
  request->state = *std::move(state);
  ++request->version;
  return request;
}

Result<void> run_split(const SplitOptions& options) {
  const AdminPages& pages = options.pages;
  const Endpoint& first = pages.addresses.front();
  const auto page = ask_page(first, pages.token, "GET", "/topology");
  if (!page) return page.error();
  const auto present = shard::parse_topology_json(*page, shard::Addresses::not_needed);
  if (!present) {
    return invalid_input(
        fmt::format("{} answers with no topology of Ringside: {}; give the --admin "
                    "address of one of its processes",
                    first.text(), present.error().message));
  }
  auto next = split_topology(*page, options);
  if (!next) return next.error();
  const auto shards = present->state ? present->state->shards : std::vector<shard::Shard>{};
  CutRequest cut = options.cut;
  cut.scheme = present->scheme;
  cut.shards = shards.size();
  const auto done =
      ask_page(first, pages.token, "POST", "/split", to_json(cut), {was_cut, nobody_writes});
  if (!done) return done.error();
  if (auto after = shard::parse_topology_json(*done, shard::Addresses::not_needed)) {
    next = *std::move(after);
  } else if (auto told = tell_all(pages, *page, *next); !told) {
    return told;
  }
  // A state's writer numbers what it writes by itself.
  const bool is_new = next->version != present->version;
  fmt::print("topology   version {}{}, {} shards\n", present->version,
             is_new ? fmt::format(" -> {}", next->version) : "", next->state->shards.size());
  print_shards(shards, next->state->shards);
  return {};
}

}  // namespace ringside::program
