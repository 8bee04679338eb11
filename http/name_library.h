#pragma once

namespace ringside::http {

// Makes c-ares ready: once for the process, before any channel. Thread-safe, which c-ares's own
// count of calls is not.
void initialise_name_library();

}  // namespace ringside::http
