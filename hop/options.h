#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/limits.h"

namespace ringside::hop {

// What is configured of both hops alike. The program's Configuration and the settings of both
// halves derive from it, so an option that both use is a member here, a row in
// program/option_table.cc, and where it acts.
struct Options {
  std::string country_header = "X-Country";
  std::string via_name;             // see http::HopIdentity; empty: the hop's own name
  std::vector<Network> purge_from;  // whose PURGE requests are obeyed
  Milliseconds connect_timeout = limits::connect_timeout;
  Milliseconds first_byte_timeout = limits::first_byte_timeout;
  Milliseconds request_deadline = limits::request_deadline;
  // Of one client's address, a core; a replica counts those alone that have not proved membership.
  std::size_t connections_per_address = limits::connections_per_address;
  std::size_t origin_connections = limits::origin_connections;  // requests at once, for each origin
};

}  // namespace ringside::hop
