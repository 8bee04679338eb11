#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/address.h"

namespace ringside::replay {

// How the tier is told for whom a request is made; it must trust the address that we come from.
enum class ClientField { x_forwarded_for, forwarded };

// A change of the number of replicas in the middle of the traffic.
struct ScaleStep {
  std::uint32_t replicas = 11;  // as in `ringside scale N`
  double at_percent = 50;       // of the requests; above 0, below 100
};

struct ReplayOptions {
  std::string log;  // an access log in Combined Log Format; "-": stdin; empty: generated traffic
  std::size_t generated_requests = 80'000;  // where `log` is empty
  std::uint64_t seed = 1;                   // of the generated traffic

  Endpoint to;       // the sidecar's data port
  std::string host;  // the Host field; empty: `to`
  ClientField client_field = ClientField::x_forwarded_for;
  std::size_t concurrency = 16;       // requests in flight, 1 … limits::replay_concurrency
  std::uint32_t rate_per_second = 0;  // 0: as fast as the answers come
  std::uint64_t limit = 0;            // stop after so many requests; 0: all

  // The running tier's admin address. With it, origin fetches and errors are compared with
  // /metrics, and a disagreement is a failure. Needed by `scale`.
  std::optional<Endpoint> admin;
  std::string admin_token;  // where it wants one; for `scale`
  std::optional<ScaleStep> scale;

  std::string geo;        // country database; empty: no countries in the table
  std::string json_file;  // the figures as JSON; "-": stdout instead of the table
  std::string
      lines_file;  // one line per request: line, client, method, target, status, replica, hit
};

// Sends the requests in the order of the log and prints a live line (on a terminal) and a final
// table on stdout, problems on stderr. Returns the exit code: 0 when every request got an answer
// and everything that was compared agrees, 2 where the options make no sense, else 1. Blocks.
[[nodiscard]] int run_replay(const ReplayOptions& options);

}  // namespace ringside::replay
