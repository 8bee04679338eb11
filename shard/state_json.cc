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

Result<TableRow> read_row(const ObjectReader& object) {
  if (auto known = object.only({"member", "buckets"}, {}); !known) return known.error();
  auto member = object.text("member");
  if (!member) return member.error();
  auto buckets = object.text("buckets");
  if (!buckets) return buckets.error();
  return TableRow{*std::move(member), *std::move(buckets)};
}

Result<std::vector<TableRow>> read_rows(const json& rows, const std::string& place) {
  if (!rows.is_array()) return wrong(place, "give an array of rows");
  if (rows.size() > limits::members) {
    return wrong(place, fmt::format("there are {} rows; at most {}", rows.size(), limits::members));
  }
  std::vector<TableRow> table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto row = read_row(ObjectReader(rows[i], fmt::format("{}[{}]", place, i)));
    if (!row) return row.error();
    table.push_back(*std::move(row));
  }
  return table;
}

Result<std::vector<Shard>> read_shards(const json* shards, const std::string& place) {
  if (shards == nullptr || !shards->is_array()) return wrong(place, "give an array of shards");
  if (shards->size() > bucket_count) {
    return wrong(place, fmt::format("there are {}; at most {}", shards->size(), bucket_count));
  }
  std::vector<Shard> out;
  for (std::size_t i = 0; i < shards->size(); ++i) {
    auto shard = read_shard(ObjectReader((*shards)[i], fmt::format("{}[{}]", place, i)));
    if (!shard) return shard.error();
    out.push_back(*std::move(shard));
  }
  return out;
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
  if (state.has_shards() || state.table.empty()) out["shards"] = std::move(shards);
  if (state.table.empty()) return out;
  auto& table = out["table"] = nlohmann::ordered_json::array();
  for (const TableRow& row : state.table) {
    table.push_back({{"member", row.member}, {"buckets", row.buckets}});
  }
  return out;
}

Result<State> read_state(const json& value, const std::string& place) {
  const ObjectReader object(value, place);
  if (auto known = object.only({"shards", "fallback", "table"}, {}); !known) return known.error();
  State state;
  if (object.find("fallback")) {
    auto fallback = object.text("fallback");
    if (!fallback) return fallback.error();
    state.fallback = *std::move(fallback);
  }
  if (const json* const rows = object.find("table")) {
    auto table = read_rows(*rows, object.place_of("table"));
    if (!table) return table.error();
    state.table = *std::move(table);
  }
  const json* const shards = object.find("shards");
  if (shards == nullptr && !state.table.empty()) return state;
  auto read = read_shards(shards, object.place_of("shards"));
  if (!read) return read.error();
  state.shards = *std::move(read);
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
  if (!schemes->may_have_state()) {
    return wrong("scheme", fmt::format("{} has no state; leave the file out", *scheme));
  }
  const json* const value = object.find("state");
  if (value == nullptr) return wrong("state", "is missing; give an object with shards");
  auto state = read_state(*value, "state");
  if (!state) return state.error();
  return StateFile{schemes->text(), *std::move(state)};
}

}  // namespace ringside::shard
