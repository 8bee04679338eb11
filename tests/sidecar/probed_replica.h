#pragma once

#include <string>
#include <string_view>

#include "tests/sidecar/some_sidecar.h"

// Replicas that a sidecar probes, and what its figures tell of that.
namespace ringside::sidecar {

inline const std::string probe_answer = support::answer("200 OK", "", "");

inline bool is_probe(std::string_view head) { return head.starts_with("OPTIONS * HTTP/1.1\r\n"); }

inline std::size_t probes_of(const support::ScriptedPeer& peer) {
  std::size_t probes = 0;
  for (const std::string& head : peer.heads()) probes += is_probe(head) ? 1 : 0;
  return probes;
}

inline void read_and_stall(support::Stage& stage) {
  stage.read_request();
  stage.stall();
}

inline std::uint64_t ejections(const SomeSidecar& sidecar, std::string_view replica) {
  for (const auto& shard : sidecar.totals().shards) {
    if (shard.name == replica) return shard.of("ringside_replica_ejections_total");
  }
  return 0;
}

inline std::size_t ejected_now(const SomeSidecar& sidecar) {
  std::size_t ejected = 0;
  for (const auto& shard : sidecar.totals().shards)
    ejected += shard.of("ringside_replicas_ejected");
  return ejected;
}

inline bool will_have_probed(const SomeSidecar& sidecar, metrics::ProbeAnswer answer,
                             std::uint64_t times) {
  return support::eventually(
      [&] { return sidecar.totals().of("ringside_replica_probes_total", answer) == times; });
}

// By whom, as the Cache-Status of hit_of tells.
inline std::string replica_of(const support::Reply& reply) {
  return reply.field("cache-status").substr(0, 7);
}

}  // namespace ringside::sidecar
