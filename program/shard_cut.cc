#include "program/shard_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/quotation.h"
#include "program/key_text.h"
#include "shard/directory.h"
#include "shard/json_object.h"
#include "shard/schemes.h"

namespace ringside::program {
namespace {

using shard::ObjectReader;

Error no_shard(const shard::Topology& topology, std::string_view which) {
  return invalid_input(
      fmt::format("there is no shard {}; they go from 0 to {}, and GET /topology names them", which,
                  topology.state().shards.size() - 1));
}

Result<std::size_t> check_number(const shard::Topology& topology, std::size_t number) {
  if (number < std::max<std::size_t>(topology.state().shards.size(), 1)) return number;
  return no_shard(topology, fmt::format("{}", number));
}

// A name comes before a number: ranges of numbers have names that are some.
Result<std::size_t> find_shard(const shard::Topology& topology, const std::string& text) {
  const auto& shards = topology.state().shards;
  if (text.empty()) {
    if (topology.scheme() == "directory") return std::size_t{0};
    if (topology.scheme() == "ascending" || shards.size() == 1) return shards.size() - 1;
    return invalid_input(
        fmt::format("which of {} shards? Give its number or its name", shards.size()));
  }
  const auto named = std::find_if(shards.begin(), shards.end(), [&](const shard::Shard& one) {
    return one.at == key_of_text(text);
  });
  if (named != shards.end()) return static_cast<std::size_t>(named - shards.begin());
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  if (is_number && number < shards.size()) return number;
  return no_shard(topology, quotation(text));
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

// Whether somebody has cut the shard of whom the asker has not heard: it would be cut elsewhere
// than it was asked for.
Result<void> check_knowledge(const shard::Topology& topology, const CutRequest& request,
                             std::size_t number) {
  const auto refused = [](std::string message) {
    return Error{ErrorKind::refused, ErrorSource::client, Retry::no, std::move(message)};
  };
  if (!request.scheme.empty() && request.scheme != topology.scheme()) {
    return refused(fmt::format("the scheme is {}, and {} was asked for; read GET /topology again",
                               topology.scheme(), request.scheme));
  }
  const auto& shards = topology.state().shards;
  if (request.shards > shards.size()) {
    return refused(
        fmt::format("there are {} shards here, and the asker knows {}; let it hear of "
                    "those first",
                    shards.size(), request.shards));
  }
  for (std::size_t i = request.shards; request.shards > 0 && i < shards.size(); ++i) {
    if (shards[i].parent != number) continue;
    return refused(
        fmt::format("shard {} was cut since there were {}; read GET /topology again, which has {}",
                    number, request.shards, shards.size()));
  }
  return {};
}

Result<std::vector<std::string>> texts(const ObjectReader& object, const char* key) {
  const nlohmann::json* const value = object.find(key);
  if (value == nullptr) return std::vector<std::string>{};
  const bool are_texts =
      value->is_array() &&
      std::all_of(value->begin(), value->end(), [](const auto& v) { return v.is_string(); });
  if (!are_texts) return shard::wrong(object.place_of(key), "give an array of strings");
  return value->get<std::vector<std::string>>();
}

}  // namespace

std::string to_json(const CutRequest& request) {
  nlohmann::ordered_json out;
  if (!request.scheme.empty()) out["scheme"] = request.scheme;
  if (request.shards > 0) out["shards"] = request.shards;
  if (request.number) out["number"] = *request.number;
  if (!request.shard.empty()) out["shard"] = request.shard;
  out["at"] = request.at;
  out["to"] = request.to;
  if (request.only_new) out["only_new"] = true;
  return out.dump() + "\n";
}

Result<CutRequest> parse_cut_request(std::string_view text) {
  const auto document = parse_strict_json(text);
  if (!document) return document.error();
  const ObjectReader object(*document, "");
  if (auto known = object.only({"scheme", "shards", "number", "shard", "at", "to", "only_new"}, {});
      !known) {
    return known.error();
  }
  CutRequest request;
  for (const auto& [key, into] :
       {std::pair{"scheme", &request.scheme}, {"shard", &request.shard}}) {
    if (object.find(key) == nullptr) continue;
    auto value = object.text(key);
    if (!value) return value.error();
    *into = *std::move(value);
  }
  if (object.find("shards") != nullptr) {
    const auto shards = object.count("shards");
    if (!shards) return shards.error();
    request.shards = *shards;
  }
  if (object.find("number") != nullptr) {
    const auto number = object.count("number");
    if (!number) return number.error();
    request.number = *number;
  }
  for (const auto& [key, into] : {std::pair{"at", &request.at}, {"to", &request.to}}) {
    auto values = texts(object, key);
    if (!values) return values.error();
    *into = *std::move(values);
  }
  if (const nlohmann::json* const only_new = object.find("only_new")) {
    if (!only_new->is_boolean()) {
      return shard::wrong(object.place_of("only_new"), "give true or false");
    }
    request.only_new = only_new->get<bool>();
  }
  return request;
}

Result<shard::State> state_after(const shard::Topology& topology, const CutRequest& request) {
  if (!topology.has_state()) return shard::no_shards(topology.scheme());
  const auto number = request.number ? check_number(topology, *request.number)
                                     : find_shard(topology, request.shard);
  if (!number) return number.error();
  if (auto known = check_knowledge(topology, request, *number); !known) return known.error();
  shard::Cut cut{*number, {}, request.to, request.only_new};
  for (const std::string& at : request.at) cut.at.push_back(key_of_text(at));
  if (!cut.owners.empty() && cut.owners.size() != std::max<std::size_t>(cut.at.size(), 1)) {
    return invalid_input(
        fmt::format("there are {} `at` and {} `to`; give a `to` for each `at`, or none",
                    cut.at.size(), cut.owners.size()));
  }
  for (const std::string& name : cut.owners) {
    if (topology.find(name)) continue;
    return invalid_input(fmt::format("to: there is no replica {}", quotation(name)));
  }
  const bool is_placed = topology.scheme() == "directory" && !cut.at.empty();
  if (is_placed && topology.members().empty() && cut.owners.size() < cut.at.size()) {
    return Error{ErrorKind::refused, ErrorSource::ourselves, Retry::yes,
                 "to: the replicas are not known here yet; ask again in a moment"};
  }
  while (cut.owners.size() < std::max<std::size_t>(cut.at.size(), 1)) {
    if (topology.members().empty()) break;
    const auto first_sight = [&](const std::string& key) {
      return topology.members()[place_at_first_sight(key, topology.members())].name;
    };
    const std::string chosen =
        is_placed ? first_sight(cut.at[cut.owners.size()]) : least_loaded(topology, cut.owners);
    cut.owners.push_back(chosen);
  }
  return shard::cut_state(topology, cut);
}

std::optional<CutRequest> cut_wanted_of(const cache::Replica& replica,
                                        const cache::CutTerms& terms) {
  const auto topology = replica.settings()->membership->topology;
  auto cut = replica.cut_wanted(*topology, terms);
  if (!cut) return std::nullopt;
  CutRequest request{
      std::string(topology->scheme()), topology->state().shards.size(), cut->shard, {}, {}, {}};
  request.only_new = cut->only_new;
  for (const std::string& at : cut->at) request.at.push_back(key_text_of_at(at));
  return request;
}

}  // namespace ringside::program
