#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "base/task.h"
#include "geo/country.h"
#include "http/kept_request.h"
#include "http/scheme.h"
#include "shard/topology.h"
#include "sidecar/health_watch.h"

namespace ringside::sidecar {

struct CoreState;

// A GET or a HEAD without content, as a client would send it.
struct ExplainedRequest {
  std::shared_ptr<const http::KeptRequest> request;
  IpAddress peer;                            // who would send it
  http::Scheme scheme = http::Scheme::http;  // of its connection
};

// What the near caches have of it, each core's its own.
struct NearExplanation {
  bool may_be_given = false;  // the request and its route let them answer
  std::size_t cores = 0;      // that were looked at
  std::size_t holders = 0;    // cores that would answer it
};

// What the tier would do with a request now. What comes after a failure is not known.
struct Explanation {
  std::optional<Error> failure{};  // what the client would be told

  std::string sidecar = "ringside";  // as it names itself in Cache-Status
  IpAddress peer{};
  bool peer_is_trusted = false;
  IpAddress client{};
  std::string client_told_by{};  // the field in which a trusted peer says so; empty: it is the peer
  http::Scheme scheme = http::Scheme::http;
  geo::Country country{};
  std::optional<unsigned>
      country_prefix_bits{};  // where the database has it; absent: there is none
  std::string host{};
  std::string target{};
  std::string route{};  // empty: none matches

  std::string keyed_by{};    // the parts of the key, as they are configured
  bool is_fallback = false;  // the path has not what the route's own key takes
  std::string shard_key{};   // its bytes
  std::uint64_t hash = 0;
  std::size_t bucket = 0;
  std::string topology_id{};
  std::uint64_t topology_version = 0;
  std::string scheme_name{};  // of sharding
  struct Owner {
    std::string name;
    HealthWatch::Standing standing = HealthWatch::Standing::in_service;
  };
  std::vector<Owner> owners{};  // in order of preference
  NearExplanation near{};

  std::vector<std::string> in_vain{};  // who was asked and did not answer, and why
  std::string answered_by{};           // the replica that would answer; empty: none
  int replica_status = 0;              // of what it answered to us
  std::string replica_detail{};        // with an error
  std::string replica_page{};          // the JSON of cache/explanation.h
  bool asks_origin = false;            // since no replica can be asked
};

// On the core, of what it knows. Asks the replica that would answer what it would do.
Task<Explanation> explain(CoreState& core, const ExplainedRequest& request);

// Adds what the core's near cache has.
void look_nearby(CoreState& core, const ExplainedRequest& request, NearExplanation& near);

}  // namespace ringside::sidecar
