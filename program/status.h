#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "program/admin_pages.h"

namespace CLI {
class App;
}

namespace ringside::program {

struct StatusOptions {
  bool json = false;
  AdminPages pages{};  // of all processes that are to be told of
};

void add_status_flags(CLI::App& app, StatusOptions& out);

// What the admin pages of one process say.
struct StatusPages {
  int readiness = 0;  // the status of `GET /readyz`
  std::string readyz;
  std::string topology;
  std::string metrics_before;
  std::string metrics;
  Milliseconds between{0};  // these two
};

struct ProcessStatus {
  struct Replica {
    std::string name;
    std::optional<double> share;           // of all buckets; none: it is not told by this scheme
    std::optional<bool> is_ready;          // as the source of members says; none: it does not
    std::optional<std::uint64_t> entries;  // stored; none: another process has it
    std::uint64_t stored_bytes = 0;
    std::uint64_t buckets_away = 0;  // that are its own and another one holds
  };
  std::string admin;  // where it was asked
  bool is_ready = false;
  std::vector<std::string> lines{};  // of `GET /readyz`
  std::string topology_id{};
  std::uint64_t topology_version = 0;
  std::string scheme{};
  std::vector<Replica> replicas{};
  double requests_per_second = 0;
  std::optional<double> hit_rate{};  // of those that are not bypassed and did not fail; none: none
  std::uint64_t ejected = 0;         // replicas
  bool is_last_reload_refused = false;
};

// An Error: they are none of a Ringside's.
[[nodiscard]] Result<ProcessStatus> status_of(const std::string& admin, const StatusPages& pages);
// What is wrong with the tier of which these are all processes that were asked; empty: nothing.
[[nodiscard]] std::vector<std::string> ailments(const std::vector<ProcessStatus>& processes);

// For people, and as JSON with what is wrong; each ends with a line end.
[[nodiscard]] std::string to_text(const ProcessStatus& process);
[[nodiscard]] std::string to_json(const std::vector<ProcessStatus>& processes,
                                  const std::vector<std::string>& wrong);

// `ringside status`: prints how a running tier is. An Error where it is not well, too.
[[nodiscard]] Result<void> run_status(const StatusOptions& options, const Clock& clock);

}  // namespace ringside::program
