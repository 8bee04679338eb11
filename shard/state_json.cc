#include "shard/state_json.h"

#include <fmt/format.h>

#include <utility>

#include "base/limits.h"
#include "shard/json_object.h"
#include "shard/schemes.h"

namespace ringside::shard {
namespace {

Result<Shard> read_shard(const ObjectReader& object) {
  if (auto known = object.only({"at", "owner", "parent", "route"}, {}); !known)
    return known.error();
  Shard shard;
  auto at = object.text("at");
  if (!at) return at.error();
  shard.at = *std::move(at);
  if (object.find("owner")) {
    auto owner = object.text("owner");
    if (!owner) return owner.error();
    shard.owner = *std::move(owner);
  }
  if (object.find("parent")) {
    const auto parent = object.count("parent");
    if (!parent) return parent.error();
    shard.parent = static_cast<std::size_t>(*parent);
  }
  if (object.find("route")) {
    auto route = object.text("route");
    if (!route) return route.error();
    shard.route = *std::move(route);
  }
  return shard;
}

}  // namespace

nlohmann::ordered_json to_json(const State& state) {
  auto shards = nlohmann::ordered_json::array();
  for (const Shard& shard : state.shards) {
    nlohmann::ordered_json one;
    if (!shard.route.empty()) one["route"] = shard.route;
    one["at"] = shard.at;
    if (!shard.owner.empty()) one["owner"] = shard.owner;
    if (shard.parent) one["parent"] = *shard.parent;
    shards.push_back(std::move(one));
  }
  nlohmann::ordered_json out;
  if (!state.fallback.empty()) out["fallback"] = state.fallback;
  out["shards"] = std::move(shards);
  return out;
}

Result<State> read_state(const json& value, const std::string& place) {
  const ObjectReader object(value, place);
  if (auto known = object.only({"shards", "fallback"}, {}); !known) return known.error();
  State state;
  if (object.find("fallback")) {
    auto fallback = object.text("fallback");
    if (!fallback) return fallback.error();
    state.fallback = *std::move(fallback);
  }
  const json* const shards = object.find("shards");
  if (shards == nullptr || !shards->is_array()) {
    return wrong(object.place_of("shards"), "give an array of shards");
  }
  if (shards->size() > bucket_count) {
    return wrong(object.place_of("shards"),
                 fmt::format("there are {}; at most {}", shards->size(), bucket_count));
  }
  for (std::size_t i = 0; i < shards->size(); ++i) {
    auto shard = read_shard(ObjectReader((*shards)[i], fmt::format("{}.shards[{}]", place, i)));
    if (!shard) return shard.error();
    state.shards.push_back(*std::move(shard));
  }
  return state;
}

std::string state_file_text(const StateFile& file) {
  nlohmann::ordered_json out;
  out["format"] = state_format;
  out["scheme"] = file.scheme;
  out["state"] = to_json(file.state);
  return out.dump(1) + "\n";
}

Result<StateFile> parse_state_file(std::string_view text) {
  const auto document = parse_strict_json(text);
  if (!document) return document.error();
  const ObjectReader object(*document, "");
  if (auto known = object.only({"format", "scheme", "state"}, {}); !known) return known.error();
  const auto format = object.count("format");
  if (!format) return format.error();
  if (*format != state_format) {
    return wrong("format", fmt::format("is {}; this version of ringside reads {}, so let the one "
                                       "that wrote the file write it anew",
                                       *format, state_format));
  }
  auto scheme = object.text("scheme");
  if (!scheme) return scheme.error();
  const auto schemes = parse_schemes(*scheme);
  if (!schemes) return wrong("scheme", schemes.error().message);
  if (!schemes->has_state()) {
    return wrong("scheme", fmt::format("{} has no state; leave the file out", *scheme));
  }
  const json* const value = object.find("state");
  if (value == nullptr) return wrong("state", "is missing; give an object with shards");
  auto state = read_state(*value, "state");
  if (!state) return state.error();
  return StateFile{schemes->text(), *std::move(state)};
}

}  // namespace ringside::shard
