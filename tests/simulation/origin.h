#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "http1/connection.h"
#include "http1/server.h"
#include "tests/simulation/world.h"

namespace ringside::simulation {

inline constexpr std::uint16_t http_port = 80;

[[nodiscard]] Endpoint port_of(const World::Machine& machine);

// What the origin says of a target: of a few bytes, or of more than any buffer holds.
[[nodiscard]] const std::string& body_of(std::string_view target);
// The first of `/PREFIX-0`, `/PREFIX-1`, … with a body of so many bytes.
[[nodiscard]] std::string target_of(std::string_view prefix, std::size_t least_bytes,
                                    std::size_t most_bytes);

// A process that serves connections in its own way, on a machine's port.
class SimulatedServer {
 public:
  SimulatedServer(World& world, World::Machine& machine, http::Server::Session session);
  ~SimulatedServer() { cores_.stop(); }

 private:
  net::CoreGroup cores_;
  http::Server server_;
};

// What becomes of requests at a server.
enum class Manner {
  answers,
  late,         // answers after a while
  silent,       // takes connections and requests, and says nothing
  resets,       // resets instead of an answer
  half_closes,  // ends its half instead of an answer
  closes_in_head,
  closes_after,    // answers, and closes the connection that was to be kept
  closes_in_body,  // after half of it
  resets_in_body,
  stops_in_body,     // the connection stays open
  stops_after_head,  // likewise
};

// An origin, which counts what it is asked. What is asked below /unstored/ may not be stored.
// Started where a replica was, it is a replica that fails.
class SimulatedOrigin {
 public:
  SimulatedOrigin(World& world, World::Machine& machine);
  SimulatedOrigin(const SimulatedOrigin&) = delete;
  SimulatedOrigin& operator=(const SimulatedOrigin&) = delete;

  [[nodiscard]] Endpoint address() const { return port_of(machine_); }
  [[nodiscard]] World::Machine& machine() noexcept { return machine_; }
  void behave(Manner manner, Milliseconds late = Milliseconds{0}) noexcept {
    manner_ = manner;
    late_ = late;
  }
  // From now on it says something else: X-Version tells what.
  void renew() noexcept { ++version_; }
  [[nodiscard]] std::string version() const { return std::to_string(version_); }
  // When it answered last, as X-Time tells.
  [[nodiscard]] const std::string& last_time() const noexcept { return last_time_; }
  // What its answers have beside their own; field lines.
  void add_fields(std::string lines) { added_fields_ = std::move(lines); }
  // From now on it gives the part that is asked for, of a body that never changes.
  void give_parts() noexcept { gives_parts_ = true; }
  // Whether from now on its answers have a validator, and 304 is for who has one already.
  void give_validators(bool gives) noexcept { gives_validators_ = gives; }
  // The process goes without a word, and is back.
  void crash();
  void start();

  // GETs by target, and all other requests.
  [[nodiscard]] const std::map<std::string, std::size_t>& fetches() const noexcept {
    return fetches_;
  }
  [[nodiscard]] std::size_t fetches(const std::string& target) const;
  [[nodiscard]] std::size_t all_fetches() const noexcept { return all_fetches_; }
  [[nodiscard]] std::size_t others(const std::string& target) const;
  // Requests that were cut within their body.
  [[nodiscard]] std::size_t cut_requests() const noexcept { return cut_requests_; }
  // The most that it had in hand at once.
  [[nodiscard]] std::size_t most_at_once() const noexcept { return most_at_once_; }

 private:
  Task<void> serve(http::Connection& connection);
  // Of a request, what it looks at.
  struct Asked {
    std::string method;
    std::string target;
    std::string range;
    std::string if_none_match;
  };
  Task<bool> answer(http::Connection& connection, Asked asked);
  Task<bool> answer_in_its_manner(http::Connection& connection, const std::string& head,
                                  const std::string& body);

  World& world_;
  World::Machine& machine_;
  Manner manner_ = Manner::answers;
  Milliseconds late_{0};
  std::size_t version_ = 1;
  std::string last_time_;
  std::string added_fields_;
  bool gives_parts_ = false;
  bool gives_validators_ = false;
  std::map<std::string, std::size_t> fetches_;
  std::map<std::string, std::size_t> others_;
  std::size_t all_fetches_ = 0;
  std::size_t cut_requests_ = 0;
  std::size_t at_once_ = 0;
  std::size_t most_at_once_ = 0;
  std::unique_ptr<SimulatedServer> server_;
};

}  // namespace ringside::simulation
