#include "tier/membership_json.h"

#include <nlohmann/json.hpp>

#include "tier/buckets.h"

namespace ringside::tier {

std::string to_json(const Membership& membership, const Self& self) {
  auto page = nlohmann::ordered_json::parse(shard::to_json(*membership.topology));
  auto& members = page["members"];
  for (shard::MemberIndex i = 0; i < membership.size(); ++i) {
    members[i]["address"] = nullptr;
    if (membership.is_somewhere(i)) members[i]["address"] = membership.address(i).text();
    if (membership.states.empty()) continue;
    const MemberState& state = membership.states[i];
    members[i]["ready"] = state.ready;
    members[i]["terminating"] = state.terminating;
    if (!state.zone.empty()) members[i]["placed_in"] = state.zone;
  }
  if (!self.name.empty()) {
    page["self"] = {{"name", self.name},
                    {"buckets", nullptr},
                    {"buckets_away", self.buckets_away},
                    {"buckets_to_give", self.buckets_to_give},
                    {"moved_responses", self.handoff.moved_responses},
                    {"moved_bytes", self.handoff.moved_bytes},
                    {"moves_waiting", self.handoff.moves_waiting},
                    {"fills", self.handoff.fills},
                    {"refusals", self.handoff.refusals},
                    {"leavers", nlohmann::ordered_json::array()}};
    for (const Peer& leaver : self.leavers) {
      page["self"]["leavers"].push_back(
          {{"name", leaver.name}, {"address", leaver.address.text()}});
    }
    if (const auto buckets = buckets_of(membership, self.name)) {
      page["self"]["buckets"] = buckets->size();
    }
  }
  return page.dump(2) + "\n";
}

}  // namespace ringside::tier
