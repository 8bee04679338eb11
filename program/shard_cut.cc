#include "program/shard_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/quotation.h"
#include "program/key_text.h"
#include "shard/directory.h"
#include "shard/json_object.h"
#include "shard/schemes.h"

namespace ringside::program {
namespace {

using shard::ObjectReader;

Error no_shard(const shard::Topology& topology, std::string_view which) {
  const std::size_t shards = topology.state().shards.size();
  if (shards == 0) {
    return invalid_input(fmt::format(
        "there is no shard {}, and no other one; name a key that is to be placed", which));
  }
  return invalid_input(
      fmt::format("there is no shard {}; they go from 0 to {}, and GET /topology names them", which,
                  shards - 1));
}

Result<std::size_t> check_number(const shard::Topology& topology, std::size_t number) {
  if (number < std::max<std::size_t>(topology.state().shards.size(), 1)) return number;
  return no_shard(topology, fmt::format("{}", number));
}

// Whose shards are meant, where nothing says which one: those of the only scheme that has some.
Result<std::string> only_route(const shard::Schemes& schemes) {
  std::vector<std::string> routes;
  if (schemes.own.has_shards()) routes.emplace_back();
  for (const shard::RouteScheme& one : schemes.of_routes) {
    if (one.entry.has_shards()) routes.push_back(one.route);
  }
  if (routes.size() == 1) return routes.front();
  return invalid_input(
      fmt::format("several routes have shards of their own: {}; name the route", schemes.text()));
}

// A name comes before a number: ranges of numbers have names that are some.
Result<std::size_t> named_shard(const shard::Topology& topology, const CutRequest& request) {
  const auto& shards = topology.state().shards;
  const std::string& text = request.shard;
  const auto is_of_route = [&](const shard::Shard& one) {
    return !request.route || one.route == *request.route;
  };
  std::vector<std::size_t> named;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (is_of_route(shards[i]) && shards[i].at == key_of_text(text)) named.push_back(i);
  }
  if (named.size() > 1) {
    return invalid_input(
        fmt::format("shards {} and {} have the name {}; name the route, or give a number", named[0],
                    named[1], quotation(text)));
  }
  if (named.size() == 1) return named.front();
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  if (is_number && number < shards.size()) {
    if (is_of_route(shards[number])) return number;
    return invalid_input(
        fmt::format("shard {} is none of route {}; numbers count the shards of all routes", number,
                    quotation(*request.route)));
  }
  return no_shard(topology, quotation(text));
}

// Of a route, where none is named: of ranges the one in which it is cut.
Result<std::size_t> only_shard(const shard::Topology& topology, const CutRequest& request,
                               std::string_view scheme, const std::string& route) {
  if (scheme == "directory") return std::size_t{0};
  if (scheme == "range" && !request.at.empty()) {
    const std::string key = (topology.has_routes() ? route + "\n" : std::string()) +
                            key_of_text(request.at.front()) + "\n";
    return topology.bucket_for({key, hash64(key)}) - topology.first_shard();
  }
  std::vector<std::size_t> meant;
  const auto& shards = topology.state().shards;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards[i].route == route) meant.push_back(i);
  }
  if (!meant.empty() && (scheme == "ascending" || meant.size() == 1)) return meant.back();
  return invalid_input(fmt::format("which of {} shards? Give its number or its name{}",
                                   meant.size(),
                                   scheme == "range" ? ", or --at with a key in it" : ""));
}

// A cut makes so many shards of one at most, whatever the scheme.
constexpr std::size_t shards_made_most = 2;

// Which shard is cut, and by which scheme.
struct Meant {
  std::size_t shard = 0;
  std::string route{};
  std::string_view scheme{};
};

Result<Meant> meant_by(const shard::Topology& topology, const CutRequest& request) {
  const auto schemes = shard::parse_schemes(topology.scheme());
  if (!schemes) return schemes.error();
  if (!schemes->has_shards()) return shard::no_shards(schemes->text());
  if (request.route && schemes->find(*request.route) == nullptr) {
    return invalid_input(fmt::format("route: {} has no scheme of its own; the schemes are {}",
                                     quotation(*request.route), schemes->text()));
  }
  if (!request.number && request.shard.empty()) {
    const auto route = request.route ? Result<std::string>(*request.route) : only_route(*schemes);
    if (!route) return route.error();
    const std::string_view scheme = schemes->find(*route)->name;
    const auto shard = only_shard(topology, request, scheme, *route);
    return shard ? Result<Meant>(Meant{*shard, *route, scheme}) : shard.error();
  }
  const auto shard =
      request.number ? check_number(topology, *request.number) : named_shard(topology, request);
  if (!shard) return shard.error();
  const auto& shards = topology.state().shards;
  const std::string told = *shard < shards.size() ? shards[*shard].route : "";
  const std::string& route = request.route ? *request.route : told;
  return Meant{*shard, route, schemes->find(route)->name};
}

// Who has the fewest shards of the route for its weight; of equals the first.
const std::string& least_loaded(const shard::Topology& topology, const std::string& route,
                                const std::vector<std::string>& taken) {
  std::vector<std::uint64_t> shards(topology.members().size());
  const auto& of_all = topology.state().shards;
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    if (of_all[i].route == route) ++shards[topology.bucket_owners()[topology.first_shard() + i]];
  }
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
// than it was asked for. A key of a directory is placed wherever it was before.
Result<void> check_knowledge(const shard::Topology& topology, const CutRequest& request,
                             const Meant& meant) {
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
  if (meant.scheme == "directory" || request.shards == 0) return {};
  for (std::size_t i = request.shards; i < shards.size(); ++i) {
    if (shards[i].parent != meant.shard) continue;
    return refused(
        fmt::format("shard {} was cut since there were {}; read GET /topology again, which has {}",
                    meant.shard, request.shards, shards.size()));
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
  if (request.route) out["route"] = *request.route;
  return out.dump() + "\n";
}

Result<CutRequest> parse_cut_request(std::string_view text) {
  const auto document = parse_strict_json(text);
  if (!document) return document.error();
  const ObjectReader object(*document, "");
  const auto known =
      object.only({"scheme", "shards", "number", "shard", "at", "to", "only_new", "route"}, {});
  if (!known) return known.error();
  CutRequest request;
  std::string route;
  for (const auto& [key, into] :
       {std::pair{"scheme", &request.scheme}, {"shard", &request.shard}, {"route", &route}}) {
    if (object.find(key) == nullptr) continue;
    auto value = object.text(key);
    if (!value) return value.error();
    *into = *std::move(value);
  }
  if (object.find("route") != nullptr) request.route = std::move(route);
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
  const auto meant = meant_by(topology, request);
  if (!meant) return meant.error();
  if (auto known = check_knowledge(topology, request, *meant); !known) return known.error();
  shard::Cut cut{meant->shard, {}, request.to, request.only_new, meant->route};
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
  const bool is_placed = meant->scheme == "directory" && !cut.at.empty();
  // It is refused, and to find an owner for each would take long.
  if (!is_placed && cut.at.size() > shards_made_most) return shard::cut_state(topology, cut);
  if (is_placed && topology.members().empty() && cut.owners.size() < cut.at.size()) {
    return Error{ErrorKind::refused, ErrorSource::ourselves, Retry::yes,
                 "to: the replicas are not known here yet; ask again in a moment"};
  }
  while (cut.owners.size() < std::max<std::size_t>(cut.at.size(), 1)) {
    if (topology.members().empty()) break;
    const auto first_sight = [&](const std::string& key) {
      return topology.members()[place_at_first_sight(key, topology.members())].name;
    };
    const std::string chosen = is_placed ? first_sight(cut.at[cut.owners.size()])
                                         : least_loaded(topology, meant->route, cut.owners);
    cut.owners.push_back(chosen);
  }
  return shard::cut_state(topology, cut);
}

Result<void> check_shards_kept(const shard::Topology& present, const shard::Topology& next) {
  if (next.state() == present.state() || next.extends(present)) return {};
  return Error{ErrorKind::refused, ErrorSource::client, Retry::no,
               "state: shards were cut since, or are others; take those of GET /topology, or leave "
               "the state out"};
}

std::optional<CutRequest> cut_wanted_of(const cache::Replica& replica,
                                        const cache::CutTerms& terms) {
  const auto topology = replica.settings()->membership->topology;
  auto cut = replica.cut_wanted(*topology, terms);
  if (!cut) return std::nullopt;
  CutRequest request{
      std::string(topology->scheme()), topology->state().shards.size(), cut->shard, {}, {}, {}};
  request.only_new = cut->only_new;
  if (topology->has_routes()) request.route = cut->route;
  for (const std::string& at : cut->at) request.at.push_back(key_text_of_at(at));
  return request;
}

}  // namespace ringside::program
