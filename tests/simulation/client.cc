#include "tests/simulation/client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>

#include "base/limits.h"
#include "net/waiter.h"
#include "tests/simulation/origin.h"

namespace ringside::simulation {
namespace {

// Longer than whoever is asked may take for it.
constexpr Milliseconds patience = 2 * limits::request_deadline;
// A sidecar, the replica that it asks, and the holder that this one asks.
constexpr std::ptrdiff_t caches_most = 3;

Task<std::unique_ptr<http::Connection>> connected(World::Machine& machine, net::Core& core,
                                                  const Endpoint& to) {
  auto made = co_await machine.host.connect(core, *net::numeric(to), core.steady_now() + patience,
                                            ErrorSource::peer);
  if (!made) co_return nullptr;
  co_return std::make_unique<http::Connection>(core, *std::move(made), ErrorSource::peer);
}

std::string text_of(const http::ResponseHead& head) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", head.status, head.reason);
  for (const http::Field& field : head.fields) {
    text += fmt::format("{}: {}\r\n", field.name, field.value);
  }
  return text + "\r\n";
}

// An Age is in whole seconds, by clocks that are a little slow or fast.
bool is_too_young(const support::Reply& reply, Instant asked) {
  const auto number = [&](std::string_view name) {
    return std::strtoll(reply.field(name).c_str(), nullptr, 10);
  };
  const auto age = std::chrono::seconds(number("age"));
  return age + std::chrono::seconds(2) < asked - Instant{number("x-time")};
}

bool came_through_too_many(const support::Reply& reply) {
  const std::string caches = reply.field("cache-status");
  return std::count(caches.begin(), caches.end(), ',') + 1 > caches_most;
}

}  // namespace

std::string get_request(std::string_view target) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: a.test\r\n\r\n", target);
}

std::string post_request(std::string_view target) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\norder", target);
}

Task<bool> send(http::Connection& connection, std::string bytes) {
  connection.set_deadline(patience);
  const std::array<std::string_view, 1> buffers{bytes};
  const auto written = co_await connection.write(buffers);
  co_return written.has_value();
}

Task<void> pause(http::Connection& connection, Milliseconds time) {
  net::Waiter waiter(connection.core());
  co_await waiter.wait(connection.core().steady_now() + time);
}

Task<support::Reply> exchange(std::unique_ptr<http::Connection>& connection, std::string request) {
  support::Reply reply;
  std::unique_ptr<http::Connection> used = std::move(connection);
  if (!used) co_return reply;
  // What can't be written any more may have been answered.
  static_cast<void>(co_await send(*used, request));
  http::ResponseHead head;
  const std::string method = request.substr(0, request.find(' '));
  const auto read = co_await used->read_response(http::HeadLimits::between_hops(), method, head);
  if (!read) co_return reply;
  reply.status = head.status;
  reply.head = text_of(head);
  const bool keep_alive = head.keep_alive;
  while (!used->body_done()) {
    const auto piece = co_await used->read_body();
    if (!piece) co_return reply;
    reply.body += *piece;
  }
  reply.whole = true;
  if (keep_alive) connection = std::move(used);
  co_return reply;
}

SimulatedClient::SimulatedClient(World& world, const std::string& name)
    : world_(world),
      machine_(world.add_machine(name)),
      cores_(name, 1, machine_.clock, machine_.host) {
  cores_.start_without_threads();
  world.run_on(machine_, cores_);
}

std::shared_ptr<const SimulatedClient::Asked> SimulatedClient::begin(const Endpoint& to,
                                                                     std::string request) {
  auto asked = std::make_shared<Asked>();
  asked->began = world_.now();
  cores_[0].spawn(run(asked, to, std::move(request)));
  return asked;
}

SimulatedClient::Asked SimulatedClient::ask(const Endpoint& to, std::string request) {
  const auto asked = begin(to, request);
  EXPECT_TRUE(world_.run_until([&] { return asked->done; }, 2 * patience)) << request;
  return *asked;
}

std::shared_ptr<const bool> SimulatedClient::play(const Endpoint& to, Script script) {
  auto ended = std::make_shared<bool>(false);
  scripts_.push_back(std::move(script));
  cores_[0].spawn(run_script(scripts_.back(), to, ended));
  return ended;
}

Task<void> SimulatedClient::run(std::shared_ptr<Asked> asked, Endpoint to, std::string request) {
  auto connection = co_await connected(machine_, cores_[0], to);
  world_.note(
      fmt::format("{} asks: {}", machine_.host.name(), request.substr(0, request.find("\r\n"))));
  asked->reply = co_await exchange(connection, std::move(request));
  const support::Reply& reply = asked->reply;
  EXPECT_FALSE(came_through_too_many(reply)) << reply.head;
  const bool has_time = !reply.field("x-time").empty();  // the origin's answers have
  EXPECT_FALSE(has_time && is_too_young(reply, asked->began)) << reply.head;
  asked->ended = world_.now();
  asked->done = true;
  world_.note(fmt::format("{} is told {}, {} bytes{}", machine_.host.name(), asked->reply.status,
                          asked->reply.body.size(), asked->reply.whole ? "" : ", cut"));
}

Task<void> SimulatedClient::run_script(const Script& script, Endpoint to,
                                       std::shared_ptr<bool> ended) {
  const auto connection = co_await connected(machine_, cores_[0], to);
  if (connection) co_await script(*connection);
  *ended = true;
}

SimulatedClients::SimulatedClients(World& world, const std::string& name, std::vector<Endpoint> to,
                                   std::vector<std::string> targets, std::size_t clients)
    : world_(world),
      machine_(world.add_machine(name)),
      to_(std::move(to)),
      targets_(std::move(targets)),
      cores_(name, 1, machine_.clock, machine_.host) {
  for (std::size_t i = 0; i < clients; ++i) cores_[0].spawn(work(i));
  cores_.start_without_threads();
  world.run_on(machine_, cores_);
}

Task<void> SimulatedClients::work(std::size_t first_address) {
  std::unique_ptr<http::Connection> connection;
  std::size_t address = first_address;
  while (next_ < targets_.size()) {
    const std::string& target = targets_[next_++];
    const Instant began = world_.now();
    while (true) {
      const Endpoint& to = to_[address % to_.size()];
      if (!connection) connection = co_await connected(machine_, cores_[0], to);
      const auto reply = co_await exchange(connection, get_request(target));
      if (cores_[0].stopped()) co_return;
      if (reply.whole) {
        judge(target, reply, began);
        break;
      }
      world_.note(fmt::format("GET {} is repeated", target));
      ++repeats_;
      if (reply.status == 0) ++unanswered_;
      ++address;
    }
    slowest_ = std::max(slowest_, std::chrono::duration_cast<Milliseconds>(world_.now() - began));
    ++answered_;
  }
}

void SimulatedClients::judge(const std::string& target, const support::Reply& reply,
                             Instant began) {
  world_.note(fmt::format("GET {}: {}, {} bytes", target, reply.status, reply.body.size()));
  const bool is_right = reply.status == 200 && reply.body == body_of(target);
  if (is_right && !came_through_too_many(reply) && !is_too_young(reply, began)) return;
  wrong_.push_back(fmt::format("{}: {} {}", target, reply.status,
                               is_right ? reply.head : reply.body.substr(0, 200)));
}

}  // namespace ringside::simulation
