#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "net/origin.h"
#include "program/member_source.h"
#include "program/values.h"
#include "sidecar/settings.h"

// How `GET /config` shows the values of options: as a file has them. Null: nothing is there.
namespace ringside::program {

using Json = nlohmann::ordered_json;

inline Json shown(bool on) { return on; }
inline Json shown(std::uint64_t number) {  // 0: null
  return number == 0 ? Json() : Json(number);
}
inline Json shown(Milliseconds duration) { return duration_text(duration); }
inline Json shown(log::Level level) { return level_text(level); }
inline Json shown(sidecar::WithoutReplica choice) {
  return choice == sidecar::WithoutReplica::refuse ? "refuse" : "origin";
}
inline Json shown(cache::SplitWrites choice) {
  return choice == cache::SplitWrites::log ? "log" : "wait";
}
inline Json shown(const std::string& text) {  // empty: null
  return text.empty() ? Json() : Json(text);
}
inline Json shown(const std::vector<std::string>& texts) {
  auto out = Json::array();
  for (const std::string& text : texts) out.push_back(text);
  return out;
}
inline Json shown(const k8s::Target& target) { return target_text(target); }
inline Json shown(const k8s::DnsTarget& target) { return target_text(target); }

// One alone as a text, several as a list.
inline Json shown(const std::vector<net::Origin>& origins) {
  if (origins.size() == 1) return origin_text(origins.front());
  Json out;
  for (const net::Origin& origin : origins) out.push_back(origin_text(origin));
  return out;
}
inline Json shown(const std::vector<Network>& networks) {
  auto out = Json::array();
  for (const Network& network : networks) out.push_back(network.text());
  return out;
}
inline Json shown(const std::vector<shard::MemberAt>& members) {
  auto out = Json::array();
  for (const shard::MemberAt& at : members) {
    Json member{{"name", at.member.name}, {"address", at.address.text()}};
    member["weight"] = at.member.weight;
    if (!at.member.zone.empty()) member["zone"] = at.member.zone;
    out.push_back(std::move(member));
  }
  return out;
}

template <class Value>
requires requires(const Value& value) { value.text(); }
Json shown(const Value& value) { return value.text(); }

template <class Value>
Json shown(const std::optional<Value>& value) {
  return value ? shown(*value) : Json();
}

}  // namespace ringside::program
