#pragma once

#include <string>

#include "base/error.h"
#include "program/explain_command.h"
#include "program/invocation.h"
#include "program/log_command.h"
#include "program/plan_command.h"
#include "program/purge_command.h"
#include "program/scale.h"
#include "program/shard_report.h"
#include "program/simulate.h"
#include "program/split.h"
#include "program/status.h"
#include "program/topology_command.h"
#include "replay/replay.h"

namespace ringside::program {

// A parsed command line. Only what belongs to `command` is meaningful.
struct CommandLine {
  enum class Verb {
    help,
    options,
    version,
    up,
    sidecar,
    cache,
    shard,
    scale,
    status,
    topology,
    split,
    plan,
    purge,
    explain,
    log,
    simulate,
    replay
  };
  Verb verb = Verb::help;
  std::string help;       // for Verb::help: what to print
  Invocation invocation;  // of up, sidecar, cache, shard
  ShardOptions shard;
  ScaleOptions scale;
  StatusOptions status;
  TopologyOptions topology;
  SplitOptions split;
  PurgeOptions purge;
  ExplainOptions explain;
  LogOptions log;
  PlanOptions plan;  // of scale too, where that is a dry run
  replay::ReplayOptions replay;
  SimulateOptions simulate;
};

// An Error is one line: `ringside COMMAND: what is wrong; remedy`.
[[nodiscard]] Result<CommandLine> parse_command_line(int argc, const char* const* argv);

}  // namespace ringside::program
