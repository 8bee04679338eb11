#pragma once

#include "base/clock.h"
#include "base/limits.h"
#include "k8s/backoff.h"

namespace ringside::k8s {

// How long the discovery waits for what. Tests wait less.
struct Pace {
  Backoff backoff;
  Milliseconds connect_timeout = limits::api_connect_timeout;
  Milliseconds answer_timeout = limits::api_answer_timeout;
  Milliseconds answer_whole = limits::api_list_timeout;
  Milliseconds watch_timeout = limits::api_watch_timeout;  // asked of the server, in whole seconds
  Milliseconds watch_silence = limits::api_watch_silence;
  Milliseconds watch_whole = limits::api_watch_most;
  Milliseconds settle = limits::discovery_settle;
  Milliseconds delay_most = limits::discovery_delay_most;
};

}  // namespace ringside::k8s
