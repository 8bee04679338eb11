#include "tests/simulation/tier.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"
#include "base/hash.h"
#include "base/limits.h"
#include "http/date.h"
#include "http1/wire.h"

namespace ringside::simulation {
namespace {

constexpr std::uint16_t http_port = 80;
constexpr std::uint64_t body_most_bytes = 30'000;
constexpr std::uint64_t large_body_bytes = 300'000;

Endpoint port_of(const World::Machine& machine) {
  return {machine.host.address().text(), http_port};
}

// The control threads of a simulation have nobody to tell.
template <class T>
T started(Result<T> result) {
  RINGSIDE_CHECK(result);
  return *std::move(result);
}

}  // namespace

std::string body_of(std::string_view target) {
  const std::uint64_t hash = hash64(target);
  const std::uint64_t bytes = hash % 10 == 0 ? large_body_bytes : hash % body_most_bytes;
  std::string body;
  while (body.size() < bytes) body += fmt::format("{} {}\n", target, body.size());
  body.resize(bytes);
  return body;
}

SimulatedOrigin::SimulatedOrigin(World& world)
    : machine_(world.add_machine("origin")),
      cores_("origin", 1, machine_.clock, machine_.host),
      server_(cores_, [this](http::Connection& connection) { return serve(connection); }) {
  RINGSIDE_CHECK(server_.listen(port_of(machine_)));
  cores_.start_without_threads();
  world.run_on(machine_, cores_);
}

Task<void> SimulatedOrigin::serve(http::Connection& connection) {
  http::RequestHead request;
  while (true) {
    connection.set_deadline(limits::client_idle_timeout);
    const auto begun = co_await connection.wait_for_message();
    if (!begun || !*begun) co_return;
    const auto read = co_await connection.read_request(http::HeadLimits::defaults(), request);
    if (!read) co_return;
    const std::string target(request.target);
    while (!connection.body_done()) {
      const auto piece = co_await connection.read_body();
      if (!piece) co_return;
    }
    ++fetches_[target];
    const std::string body = body_of(target);
    const auto date = http::format_date(machine_.clock.now());
    const std::string head = fmt::format(
        "HTTP/1.1 200 OK\r\nDate: {}\r\nCache-Control: max-age=3600\r\nContent-Length: {}\r\n\r\n",
        std::string_view(date.data(), date.size()), body.size());
    const std::array<std::string_view, 2> buffers{head, body};
    const auto written = co_await connection.write(buffers, limits::client_io_timeout);
    if (!written) co_return;
  }
}

SimulatedClients::SimulatedClients(World& world, const Endpoint& to,
                                   std::vector<std::string> targets, std::size_t clients)
    : world_(world),
      machine_(world.add_machine("clients")),
      to_(to),
      targets_(std::move(targets)),
      cores_("clients", 1, machine_.clock, machine_.host) {
  for (std::size_t i = 0; i < clients; ++i) cores_[0].spawn(work());
  cores_.start_without_threads();
  world.run_on(machine_, cores_);
}

Task<void> SimulatedClients::work() {
  std::unique_ptr<http::Connection> connection;
  while (next_ < targets_.size()) {
    const std::string& target = targets_[next_++];
    while (true) {
      const auto answered = co_await ask(connection, target);
      if (cores_[0].stopped()) co_return;
      if (answered) break;
      world_.note(fmt::format("GET {} is repeated: {}", target, answered.error().message));
      connection.reset();
      ++repeats_;
    }
    ++answered_;
  }
}

Task<Result<void>> SimulatedClients::ask(std::unique_ptr<http::Connection>& connection,
                                         const std::string& target) {
  net::Core& core = cores_[0];
  const SteadyPoint deadline = core.steady_now() + 2 * limits::request_deadline;
  if (!connection) {
    auto connected =
        co_await machine_.host.connect(core, *net::numeric(to_), deadline, ErrorSource::peer);
    if (!connected) co_return connected.error();
    connection = std::make_unique<http::Connection>(core, *std::move(connected), ErrorSource::peer);
  }
  connection->set_deadline(deadline);
  const std::string request = fmt::format("GET {} HTTP/1.1\r\nHost: a.test\r\n\r\n", target);
  const std::array<std::string_view, 1> buffers{request};
  const auto written = co_await connection->write(buffers);
  if (!written) co_return written.error();
  http::ResponseHead head;
  const auto read = co_await connection->read_response(http::HeadLimits::defaults(), "GET", head);
  if (!read) co_return read.error();
  const int status = head.status;
  const bool keep_alive = head.keep_alive;
  std::string body;
  while (!connection->body_done()) {
    const auto piece = co_await connection->read_body();
    if (!piece) co_return piece.error();
    body += *piece;
  }
  world_.note(fmt::format("GET {}: {}, {} bytes", target, status, body.size()));
  if (status != 200 || body != body_of(target)) {
    wrong_.push_back(fmt::format("{}: {} {}", target, status, body.substr(0, 200)));
  }
  if (!keep_alive) connection.reset();
  co_return Result<void>();
}

SimulatedTier::SimulatedTier(World& world, std::size_t replicas)
    : world_(world), origin_(world), sidecar_machine_(world.add_machine("sidecar")) {
  for (std::size_t i = 0; i < replicas; ++i) add_replica(fmt::format("cache-{}", i));
  add_sidecar();
}

void SimulatedTier::add_replica(const std::string& name) {
  World::Machine& machine = world_.add_machine(name);
  const http::RouteMatch everything;
  auto settings = std::make_shared<cache::Settings>();
  settings->routes = {{"all", everything, {net::Origin{origin_.address(), 1}}}};
  settings->route_table = http::RouteTable::make({everything}).value();
  cache::Replica::Start start;
  start.name = name;
  start.place.wire = &http::wire();
  start.place.listen = port_of(machine);
  start.settings = std::move(settings);
  start.place.stack = &machine.host;
  start.place.threads = false;
  replicas_.push_back(started(cache::Replica::start(std::move(start), machine.clock)));
  replica_machines_.push_back(&machine);
  world_.run_on(machine, replicas_.back()->cores());
}

void SimulatedTier::add_sidecar() {
  const http::RouteMatch everything;
  auto settings = std::make_shared<sidecar::Settings>();
  sidecar::Route route;
  route.name = "all";
  settings->routes = {std::move(route)};
  settings->route_table = http::RouteTable::make({everything}).value();
  std::vector<shard::MemberAt> members;
  for (const World::Machine* machine : replica_machines_) {
    members.push_back({{machine->host.name(), 1, ""}, port_of(*machine)});
  }
  settings->membership = tier::make_membership(members, "ring", 1).value();
  sidecar::Sidecar::Start start;
  start.place.wire = &http::wire();
  start.place.listen = port_of(sidecar_machine_);
  start.settings = std::move(settings);
  start.place.stack = &sidecar_machine_.host;
  start.place.threads = false;
  sidecar_ = started(sidecar::Sidecar::start(std::move(start), sidecar_machine_.clock));
  world_.run_on(sidecar_machine_, sidecar_->cores());
}

}  // namespace ringside::simulation
