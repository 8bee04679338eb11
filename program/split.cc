#include "program/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "base/quotation.h"
#include "http1/admin_client.h"
#include "shard/directory.h"
#include "shard/schemes.h"
#include "shard/state_json.h"

namespace ringside::program {
namespace {

constexpr int ok = 200;

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
  if (!topology.has_state()) {
    return invalid_input(
        fmt::format("the scheme {} has no shards that could be cut", topology.scheme()));
  }
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

std::string to_body(const shard::TopologyRequest& request) {
  nlohmann::ordered_json body;
  body["version"] = request.version;
  body["scheme"] = request.scheme;
  body["members"] = nlohmann::ordered_json::array();
  for (const shard::MemberAt& at : request.members) {
    body["members"].push_back({{"name", at.member.name},
                               {"address", at.address.text()},
                               {"weight", at.member.weight},
                               {"zone", at.member.zone}});
  }
  body["state"] = shard::to_json(*request.state);
  return body.dump();
}

Result<std::string> ask(const SplitOptions& options, const Endpoint& admin,
                        const std::string& method, const std::string& body) {
  auto answer =
      http::ask_admin(admin, method, "/topology", body, limits::admin_timeout, options.token);
  if (!answer) return answer.error();
  if (answer->status == ok) return std::move(answer->body);
  std::string said = answer->body.substr(0, answer->body.find('\n'));
  return invalid_input(fmt::format("{}: {} {}: {}", admin.text(), method, answer->status, said));
}

}  // namespace

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
  const auto present = ask(options, options.admins.front(), "GET", "");
  if (!present) return present.error();
  const auto request = split_topology(*present, options);
  if (!request) return request.error();
  const std::string body = to_body(*request);
  for (const Endpoint& admin : options.admins) {
    if (auto put = ask(options, admin, "PUT", body); !put) return put.error();
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
