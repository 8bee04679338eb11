#include "program/split.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/quotation.h"
#include "shard/directory.h"
#include "shard/schemes.h"

namespace ringside::program {
namespace {

// A key as it is written in a shell: `\n` for the line feed between its values.
std::string key_of(std::string text) {
  for (std::size_t place = text.find("\\n"); place != std::string::npos;
       place = text.find("\\n", place + 1)) {
    text.replace(place, 2, "\n");
  }
  return text;
}

Result<std::size_t> find_shard(const shard::Topology& topology, const std::string& text) {
  const auto& shards = topology.state().shards;
  if (text.empty()) {
    if (topology.scheme() == "directory") return std::size_t{0};
    if (topology.scheme() == "ascending" || shards.size() == 1) return shards.size() - 1;
    return invalid_input(
        fmt::format("which of {} shards? Give its number or its name", shards.size()));
  }
  const auto named = std::find_if(shards.begin(), shards.end(),
                                  [&](const shard::Shard& one) { return one.at == key_of(text); });
  if (named != shards.end()) return static_cast<std::size_t>(named - shards.begin());
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  if (is_number && number < shards.size()) return number;
  return invalid_input(
      fmt::format("there is no shard {}; they go from 0 to {}, and GET /topology "
                  "names them",
                  quotation(text), shards.size() - 1));
}

// Who has the least for its weight; of equals the first.
const std::string& least_loaded(const shard::Topology& topology,
                                const std::vector<std::string>& taken) {
  std::vector<std::uint64_t> shards(topology.members().size());
  for (const shard::MemberIndex owner : topology.bucket_owners()) ++shards[owner];
  for (const std::string& name : taken) {
    if (const auto member = topology.find(name)) ++shards[*member];
  }
  std::size_t least = topology.members().size();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::uint64_t weight = topology.members()[i].weight;
    if (weight == 0) continue;
    const bool is_less = least == shards.size() ||
                         shards[i] * topology.members()[least].weight < shards[least] * weight;
    if (is_less) least = i;
  }
  return topology.members()[least].name;
}

Result<shard::Cut> cut_of(const shard::Topology& topology, const SplitOptions& options) {
  if (!topology.has_state()) return shard::no_shards(topology.scheme());
  const auto number = find_shard(topology, options.shard);
  if (!number) return number.error();
  shard::Cut cut{*number, {}, options.to};
  for (const std::string& at : options.at) cut.at.push_back(key_of(at));
  for (const std::string& name : cut.owners) {
    if (topology.find(name)) continue;
    return invalid_input(fmt::format("--to: there is no replica {}", quotation(name)));
  }
  const bool is_placed = topology.scheme() == "directory" && cut.at.size() == 1;
  while (cut.owners.size() < std::max<std::size_t>(cut.at.size(), 1)) {
    if (topology.members().empty()) break;
    const auto& chosen =
        is_placed
            ? topology.members()[place_at_first_sight(cut.at.front(), topology.members())].name
            : least_loaded(topology, cut.owners);
    cut.owners.push_back(chosen);
  }
  return cut;
}

}  // namespace

void add_split_flags(CLI::App& app, SplitOptions& out) {
  app.add_option("SHARD", out.shard, "Its number or its name, as GET /topology tells");
  app.add_option("--at", out.at, "Where it is cut, or the key that is placed; may be given again")
      ->type_name("KEY")
      ->allow_extra_args(false);
  app.add_option("--to", out.to, "The replica that has the new one; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

Result<shard::TopologyRequest> split_topology(const std::string& answer,
                                              const SplitOptions& options) {
  auto request = shard::parse_topology_json(answer);
  if (!request) return request.error();
  std::vector<shard::Member> members;
  for (const shard::MemberAt& at : request->members) members.push_back(at.member);
  const auto topology = shard::Topology::make(std::move(members), request->scheme, request->version,
                                              request->state.value_or(shard::State{}));
  if (!topology) return topology.error();
  const auto cut = cut_of(**topology, options);
  if (!cut) return cut.error();
  auto state = shard::cut_state(**topology, *cut);
  if (!state) return state.error();
  request->state = *std::move(state);
  ++request->version;
  return request;
}

Result<void> run_split(const SplitOptions& options) {
  const AdminPages& pages = options.pages;
  const auto present = ask_page(pages.addresses.front(), pages.token, "GET", "/topology");
  if (!present) return present.error();
  const auto request = split_topology(*present, options);
  if (!request) return request.error();
  const std::string body = shard::to_json(*request);
  for (const Endpoint& address : pages.addresses) {
    if (auto put = ask_page(address, pages.token, "PUT", "/topology", body); !put) {
      return put.error();
    }
  }
  const auto& shards = request->state->shards;
  fmt::print("topology   version {} -> {}, {} shards\n", request->version - 1, request->version,
             shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const bool is_new = i + std::max<std::size_t>(options.at.size(), 1) >= shards.size();
    if (!is_new) continue;
    fmt::print("           {} {} of {}\n", i, quotation(shards[i].at),
               shards[i].owner.empty() ? "nobody in particular" : shards[i].owner);
  }
  return {};
}

}  // namespace ringside::program
