#include "tests/simulation/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/check.h"
#include "base/hash.h"
#include "base/limits.h"
#include "http/date.h"
#include "net/waiter.h"

namespace ringside::simulation {
namespace {

constexpr std::uint64_t body_most_bytes = 30'000;
constexpr std::uint64_t large_body_bytes = 300'000;

std::uint64_t body_size_of(std::string_view target) {
  const std::uint64_t hash = hash64(target);
  return hash % 10 == 0 ? large_body_bytes : hash % body_most_bytes;
}

// Until then, or the other side ends.
Task<void> wait_in_silence(http::Connection& connection, Milliseconds time) {
  connection.set_deadline(time);
  while (true) {
    const auto something = co_await connection.read_raw();
    if (!something || something->empty()) co_return;
  }
}

Task<void> pause(net::Core& core, Milliseconds time) {
  net::Waiter waiter(core);
  co_await waiter.wait(core.steady_now() + time);
}

// Leaves of the body what `bytes=FIRST-LAST` asks for, and returns the lines that say so.
std::string cut_to(const std::string& range, std::string& body) {
  const std::size_t length = body.size();
  const std::size_t first = std::strtoull(range.c_str() + range.find('=') + 1, nullptr, 10);
  const std::size_t asked = std::strtoull(range.c_str() + range.find('-') + 1, nullptr, 10);
  const std::size_t last = std::min(asked, length - 1);
  body = body.substr(first, last - first + 1);
  return fmt::format("206 Partial Content\r\nContent-Range: bytes {}-{}/{}\r\n", first, last,
                     length);
}

}  // namespace

Endpoint port_of(const World::Machine& machine) {
  return {machine.host.address().text(), http_port};
}

const std::string& body_of(std::string_view target) {
  static std::map<std::string, std::string, std::less<>> known;  // each is compared many times
  const auto found = known.find(target);
  if (found != known.end()) return found->second;
  const std::uint64_t bytes = body_size_of(target);
  std::string& body = known[std::string(target)];
  while (body.size() < bytes) {
    const fmt::format_int offset(body.size());
    body.append(target).append(1, ' ').append(offset.data(), offset.size()).append(1, '\n');
  }
  body.resize(bytes);
  return body;
}

std::string target_of(std::string_view prefix, std::size_t least_bytes, std::size_t most_bytes) {
  for (std::size_t number = 0;; ++number) {
    const std::string target = fmt::format("/{}-{}", prefix, number);
    const std::size_t bytes = body_size_of(target);
    if (bytes >= least_bytes && bytes <= most_bytes) return target;
  }
}

SimulatedServer::SimulatedServer(World& world, World::Machine& machine,
                                 http::Server::Session session)
    : cores_(machine.host.name(), 1, machine.clock, machine.host),
      server_(cores_, std::move(session)) {
  RINGSIDE_CHECK(server_.listen(port_of(machine)));
  cores_.start_without_threads();
  world.run_on(machine, cores_);
}

SimulatedOrigin::SimulatedOrigin(World& world, World::Machine& machine)
    : world_(world), machine_(machine) {
  start();
}

void SimulatedOrigin::crash() {
  world_.kill(machine_);
  server_.reset();
  at_once_ = 0;
}

void SimulatedOrigin::start() {
  world_.revive(machine_);
  server_ = std::make_unique<SimulatedServer>(
      world_, machine_, [this](http::Connection& connection) { return serve(connection); });
}

std::size_t SimulatedOrigin::fetches(const std::string& target) const {
  const auto found = fetches_.find(target);
  return found == fetches_.end() ? 0 : found->second;
}

std::size_t SimulatedOrigin::others(const std::string& target) const {
  const auto found = others_.find(target);
  return found == others_.end() ? 0 : found->second;
}

Task<void> SimulatedOrigin::serve(http::Connection& connection) {
  connection.lift_rate();  // it is no business of an origin's
  http::RequestHead request;
  while (true) {
    connection.set_deadline(limits::client_idle_timeout);
    const auto begun = co_await connection.wait_for_message();
    if (!begun || !*begun) co_return;
    const auto read = co_await connection.read_request(http::HeadLimits::between_hops(), request);
    if (!read) world_.note(fmt::format("origin refuses: {}", read.error().message));
    if (!read) co_return;
    const auto field = [&](std::string_view name) {
      return std::string(request.fields.first(name).value_or(std::string_view{}));
    };
    Asked asked{std::string(request.method), std::string(request.target), field("range"),
                field("if-none-match")};
    while (!connection.body_done()) {
      const auto piece = co_await connection.read_body();
      if (!piece) ++cut_requests_;
      if (!piece) co_return;
    }
    world_.note(fmt::format("origin is asked: {} {} {}", asked.method, asked.target, asked.range));
    ++(asked.method == "GET" ? fetches_ : others_)[asked.target];
    if (asked.method == "GET") ++all_fetches_;
    most_at_once_ = std::max(most_at_once_, ++at_once_);
    const bool goes_on = co_await answer(connection, std::move(asked));
    if (at_once_ > 0) --at_once_;
    if (!goes_on) co_return;
  }
}

Task<bool> SimulatedOrigin::answer(http::Connection& connection, Asked asked) {
  const auto& [method, target, range, if_none_match] = asked;
  std::string body = method == "GET" ? body_of(target) : "done\n";
  std::string status = "200 OK\r\n";
  if (gives_parts_ && method == "GET") {
    status += "ETag: \"x\"\r\n";
    if (!range.empty()) status = cut_to(range, body) + "ETag: \"x\"\r\n";
  }
  const std::size_t length = body.size();
  if (gives_validators_ && method == "GET") {
    if (!if_none_match.empty()) {
      status = "304 Not Modified\r\n";
      body.clear();
    }
    status += "ETag: \"x\"\r\n";
  }
  last_time_ = std::to_string(world_.now().count());
  const auto date = http::format_date(machine_.clock.now());
  const bool is_stored = method == "GET" && !target.starts_with("/unstored/");
  const std::string head = fmt::format(
      "HTTP/1.1 {}Date: {}\r\nCache-Control: {}\r\nX-Version: {}\r\n"
      "X-Time: {}\r\n{}Content-Length: {}\r\n\r\n",
      status, std::string_view(date.data(), date.size()), is_stored ? "max-age=3600" : "no-store",
      version_, last_time_, added_fields_, length);
  co_return co_await answer_in_its_manner(connection, head, body);
}

// Whether the connection is kept.
Task<bool> SimulatedOrigin::answer_in_its_manner(http::Connection& connection,
                                                 const std::string& head, const std::string& body) {
  const Manner manner = manner_;
  if (manner == Manner::late) co_await pause(connection.core(), late_);
  if (manner == Manner::silent) {
    co_await wait_in_silence(connection, 10 * limits::request_deadline);
    co_return false;
  }
  if (manner == Manner::resets || manner == Manner::resets_in_body) connection.reset_on_close();
  if (manner == Manner::resets) co_return false;
  if (manner == Manner::half_closes) {
    connection.shutdown_send();
    co_await wait_in_silence(connection, 10 * limits::request_deadline);
    co_return false;
  }
  if (manner == Manner::closes_in_head) {
    const std::array<std::string_view, 1> part{std::string_view(head).substr(0, 20)};
    static_cast<void>(co_await connection.write(part, limits::client_io_timeout));
    co_return false;
  }
  const bool is_cut = manner == Manner::closes_in_body || manner == Manner::resets_in_body ||
                      manner == Manner::stops_in_body;
  const bool stops = manner == Manner::stops_in_body || manner == Manner::stops_after_head;
  const std::size_t sent_bytes =
      manner == Manner::stops_after_head ? 0 : body.size() / (is_cut ? 2 : 1);
  const std::string_view sent = std::string_view(body).substr(0, sent_bytes);
  const std::array<std::string_view, 2> buffers{head, sent};
  const auto written = co_await connection.write(buffers, limits::client_io_timeout);
  if (stops) {
    co_await wait_in_silence(connection, 10 * limits::request_deadline);
  }
  co_return written && !is_cut && !stops && manner != Manner::closes_after;
}

}  // namespace ringside::simulation
