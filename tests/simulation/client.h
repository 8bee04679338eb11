#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http1/connection.h"
#include "tests/simulation/world.h"
#include "tests/support/test_client.h"

namespace ringside::simulation {

[[nodiscard]] std::string get_request(std::string_view target);
[[nodiscard]] std::string post_request(std::string_view target);

// False: the other side did not take all of it.
[[nodiscard]] Task<bool> send(http::Connection& connection, std::string bytes);
// Waits on that connection's core.
[[nodiscard]] Task<void> pause(http::Connection& connection, Milliseconds time);

// Sends a request and reads what comes, on a connection that stays where it was whole and is to be
// kept; else it is null afterwards.
[[nodiscard]] Task<support::Reply> exchange(std::unique_ptr<http::Connection>& connection,
                                            std::string request);

// A client that a test leads through what it does, each time on a connection of its own.
class SimulatedClient {
 public:
  SimulatedClient(World& world, const std::string& name);
  ~SimulatedClient() { cores_.stop(); }

  struct Asked {
    support::Reply reply;
    Instant began{0};
    Instant ended{0};
    bool done = false;
    [[nodiscard]] Milliseconds took() const {
      return std::chrono::duration_cast<Milliseconds>(ended - began);
    }
  };
  // Begins and goes on while the world runs.
  std::shared_ptr<const Asked> begin(const Endpoint& to, std::string request);
  // Runs the world until the answer is there, or can't be any more.
  Asked ask(const Endpoint& to, std::string request);
  Asked get(const Endpoint& to, std::string_view target) { return ask(to, get_request(target)); }

  // Begins a connection on which it does as the script says, right or wrong. It is closed when the
  // script ends. Returns whether it has.
  using Script = std::function<Task<void>(http::Connection&)>;
  std::shared_ptr<const bool> play(const Endpoint& to, Script script);

  [[nodiscard]] World::Machine& machine() noexcept { return machine_; }

 private:
  Task<void> run(std::shared_ptr<Asked> asked, Endpoint to, std::string request);
  Task<void> run_script(const Script& script, Endpoint to, std::shared_ptr<bool> ended);

  World& world_;
  World::Machine& machine_;
  std::list<Script> scripts_;
  net::CoreGroup cores_;
};

// Some clients on one machine, who share a list of targets, each asking for one after the other,
// and again where the connection broke before the answer was whole.
class SimulatedClients {
 public:
  // Each goes to the next of the addresses where one fails it.
  SimulatedClients(World& world, const std::string& name, std::vector<Endpoint> to,
                   std::vector<std::string> targets, std::size_t clients);
  ~SimulatedClients() { cores_.stop(); }

  // Whole answers.
  [[nodiscard]] std::size_t answered() const noexcept { return answered_; }
  [[nodiscard]] bool all_answered() const noexcept { return answered_ == targets_.size(); }
  // What was asked again.
  [[nodiscard]] std::size_t repeats() const noexcept { return repeats_; }
  // And of that where not even a head had come.
  [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_; }
  // Whole answers that are not what the origin says.
  [[nodiscard]] const std::vector<std::string>& wrong() const noexcept { return wrong_; }
  [[nodiscard]] Milliseconds slowest() const noexcept { return slowest_; }

 private:
  Task<void> work(std::size_t first_address);
  void judge(const std::string& target, const support::Reply& reply, Instant began);

  World& world_;
  World::Machine& machine_;
  const std::vector<Endpoint> to_;
  const std::vector<std::string> targets_;
  std::size_t next_ = 0;
  std::size_t answered_ = 0;
  std::size_t repeats_ = 0;
  std::size_t unanswered_ = 0;
  Milliseconds slowest_{0};
  std::vector<std::string> wrong_;
  net::CoreGroup cores_;
};

}  // namespace ringside::simulation
