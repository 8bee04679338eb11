#pragma once

#include "base/task.h"
#include "hop/access_log.h"
#include "hop/handler.h"
#include "http1/connection.h"
#include "http1/turn.h"

namespace ringside::http {

// The life of a connection: reads each request, has the handler make a response, writes it, until
// one side has had enough. The one loop of all our servers. `log` is the core's; null: none.
Task<void> converse(Connection& client, hop::Handler& handler, hop::AccessLog::Queue* log,
                    const TurnTerms& terms = client_terms);

}  // namespace ringside::http
