#include "http1/admin_server.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/error_response.h"
#include "http/target.h"
#include "http1/head_text.h"
#include "http1/server.h"
#include "http1/turn.h"
#include "net/waiter.h"

namespace ringside::http {
namespace {

using Answer = AdminServer::Answer;

struct Route {
  AdminServer::Handler handler;
  bool quick = false;
};
using Methods = std::map<std::string, Route, std::less<>>;
using Routes = std::map<std::string, Methods, std::less<>>;

constexpr std::string_view not_understood = "not a request that is understood here";
constexpr std::string_view bad_body = "the body ended early, came too slowly or is malformed";

// Threads for handlers, which may block.
class Workers {
 public:
  void start();
  void stop();  // after what was given to them
  void run(std::function<void()> work);
  [[nodiscard]] bool include_caller() const noexcept;

 private:
  void run_all();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

void Workers::start() {
  for (std::size_t i = 0; i < limits::admin_threads; ++i) {
    threads_.emplace_back([this, i] {
      ::pthread_setname_np(::pthread_self(), fmt::format("admin-{}", i).c_str());
      run_all();
    });
  }
}

void Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void Workers::run_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

bool Workers::include_caller() const noexcept {
  return std::any_of(threads_.begin(), threads_.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
}

// One request and its answer.
struct Turn {
  std::string method;
  Target target;
  std::string body;
  const Route* route = nullptr;  // null: answered already
  Answer answer;
  std::string allow;
  bool last = true;
};

void answer(Turn& turn, int status, std::string_view text) {
  turn.answer = Answer{.status = status, .body = fmt::format("{}: {}\n", status, text)};
  turn.route = nullptr;
}

void answer_too_large(Turn& turn) {
  answer(turn, 413,
         fmt::format("the body may have {} bytes at most", limits::admin_body_size_bytes));
}

void answer_error(Turn& turn, std::string_view what, const Error& error) {
  answer(turn, answer_for(error).status, fmt::format("{}: {}", what, error.message));
}

std::string allowed(const Methods& methods) {
  std::string out;
  for (const auto& [method, route] : methods) {
    out += (out.empty() ? "" : ", ") + method;
    if (method == "GET") out += ", HEAD";
  }
  return out;
}

// Whether a page of another site has made a browser send this: it could drain or purge what only
// this machine can reach. Programs send no Origin.
bool is_from_another_site(const RequestHead& head) {
  const auto origin = head.fields.first("origin");
  if (!origin || head.method == "GET" || head.method == "HEAD") return false;
  const auto scheme_end = origin->find("://");
  return scheme_end == std::string_view::npos ||
         origin->substr(scheme_end + 3) != head.fields.first("host").value_or("");
}

// What the handler makes of it. Whatever it throws is its own affair: the server goes on.
void call_handler(Turn& turn) {
  try {
    turn.answer = turn.route->handler({turn.target.path, turn.target.query, turn.body});
  } catch (const std::exception& error) {
    log::error("admin {} {} failed: {}", turn.method, turn.target.path, error.what());
    answer(turn, 500, error.what());
  } catch (...) {
    log::error("admin {} {} failed with something that is no std::exception", turn.method,
               turn.target.path);
    answer(turn, 500, "the handler failed");
  }
}

std::string head_text(const Turn& turn, TimePoint now) {
  Response response;
  response.begin(turn.answer.status, reason_of(turn.answer.status));
  FieldLines& fields = response.fields;
  fields.add("Content-Type", turn.answer.content_type);
  fields.add("Content-Length", fmt::to_string(turn.answer.body.size()));
  fields.add("Cache-Control", "no-store");
  fields.add("X-Content-Type-Options", "nosniff");
  add_date(fields, now);
  if (!turn.allow.empty()) fields.add("Allow", turn.allow);
  std::string out;
  append_response_head(out, response, {false, !turn.last}, 1);
  return out;
}

Task<bool> write_all(Connection& connection, std::string_view head, std::string_view body) {
  connection.set_deadline(limits::admin_io_timeout);
  const std::array<std::string_view, 2> buffers{head, body};
  const auto written = co_await connection.write(buffers);
  co_return written.has_value();
}

}  // namespace

struct AdminServer::Impl {
  // What a connection is about, as far as its end goes: for a new one, or a stop.
  enum class Phase { idle, receiving, answering };
  struct Client {
    Connection& connection;
    Phase phase = Phase::idle;
  };
  using Clients = std::list<Client>;
  using ClientPosition = Clients::iterator;

  void add(std::string method, std::string path, Route route);
  void make_room();
  void set_phase(ClientPosition position, Phase phase);
  Task<void> serve(Connection& connection);
  Task<void> take_turns(ClientPosition position);
  // Everything that can be said before the body is there.
  void begin(const RequestHead& head, Turn& turn) const;
  void find_route(const RequestHead& head, Turn& turn) const;
  Task<void> read_body(Connection& connection, Turn& turn);
  Task<void> answer_with_handler(Connection& connection, Turn& turn);

  Routes routes;  // not changed after start
  bool started = false;
  SystemClock clock;
  net::CoreGroup cores{"admin", 1, clock};
  // What follows up to the server is only touched on the core.
  Clients clients;  // the one whose phase changed longest ago first
  std::size_t bodies_bytes = 0;
  // A crowd that comes at once has room until those that make room for it are gone.
  Server server{cores, [this](Connection& connection) { return serve(connection); }, nullptr,
                2 * limits::admin_connections};
  Workers workers;
};

void AdminServer::Impl::add(std::string method, std::string path, Route route) {
  RINGSIDE_CHECK(!started);
  const bool is_new = routes[std::move(path)].emplace(std::move(method), std::move(route)).second;
  RINGSIDE_CHECK(is_new);
}

void AdminServer::Impl::set_phase(ClientPosition position, Phase phase) {
  position->phase = phase;
  clients.splice(clients.end(), clients, position);
}

void AdminServer::Impl::make_room() {
  if (clients.size() < limits::admin_connections) return;
  const auto found = std::find_if(clients.begin(), clients.end(),
                                  [](const Client& client) { return client.phase == Phase::idle; });
  if (found == clients.end()) return;
  found->connection.close();
  set_phase(found, Phase::receiving);
}

Task<void> AdminServer::Impl::serve(Connection& connection) {
  make_room();
  const auto position = clients.insert(clients.end(), Client{connection});
  co_await take_turns(position);
  clients.erase(position);
}

Task<void> AdminServer::Impl::take_turns(ClientPosition position) {
  Connection& connection = position->connection;
  connection.lift_rate();  // our deadlines are for a whole request and a whole answer
  RequestHead head;
  for (bool last = false; !last;) {
    set_phase(position, Phase::idle);
    const auto next = co_await next_request(
        connection, head,
        {.idle_timeout = limits::admin_idle_timeout, .head_timeout = limits::admin_io_timeout});
    if (next && !*next) co_return;
    Turn turn;
    set_phase(position, Phase::receiving);
    if (next) {
      begin(head, turn);
      if (turn.route != nullptr && head.expects_continue && !connection.body_done() &&
          !co_await write_all(connection, "HTTP/1.1 100 Continue\r\n\r\n", {})) {
        co_return;
      }
      if (turn.route != nullptr) co_await read_body(connection, turn);
    } else {
      answer_error(turn, not_understood, next.error());
    }
    set_phase(position, Phase::answering);
    if (turn.route != nullptr) co_await answer_with_handler(connection, turn);
    bodies_bytes -= turn.body.size();
    turn.last = turn.last || connection.core().draining();
    const std::string text = head_text(turn, connection.core().now());
    const std::string_view body = turn.method == "HEAD" ? "" : std::string_view(turn.answer.body);
    if (!co_await write_all(connection, text, body)) co_return;
    last = turn.last || connection.core().draining();
  }
  if (connection.core().draining()) co_return;
  set_phase(position, Phase::receiving);
  connection.set_deadline(limits::admin_linger_timeout);
  co_await connection.linger(2 * limits::admin_body_size_bytes);
}

void AdminServer::Impl::begin(const RequestHead& head, Turn& turn) const {
  turn.method = head.method;
  // What is left of a body that was not wanted must not be read as the next request: whatever has
  // content is the last on its connection.
  const bool has_content =
      head.framing.kind == Framing::Kind::chunked || head.framing.length_bytes != 0;
  turn.last = has_content || !head.keep_alive || head.minor_version == 0;
  if (head.framing.length_bytes > limits::admin_body_size_bytes) return answer_too_large(turn);
  if (has_content && head.fields.has("content-encoding")) {
    return answer(turn, 415, "send the body as it is, without a Content-Encoding");
  }
  const auto normal = normalise_target(head.target, turn.target);
  if (!normal) return answer_error(turn, not_understood, normal.error());
  find_route(head, turn);
}

void AdminServer::Impl::find_route(const RequestHead& head, Turn& turn) const {
  const auto methods = routes.find(turn.target.path);
  if (methods == routes.end()) {
    std::string text = "no such path. These are:";
    for (const auto& [path, known] : routes) text += fmt::format("\n  {} {}", allowed(known), path);
    return answer(turn, 404, text);
  }
  const auto found = methods->second.find(head.method == "HEAD" ? "GET" : head.method);
  if (found == methods->second.end()) {
    turn.allow = allowed(methods->second);
    return answer(turn, 405, fmt::format("{} takes {}", methods->first, turn.allow));
  }
  if (is_from_another_site(head)) {
    return answer(turn, 403, "a page of another site may not change anything here");
  }
  turn.route = &found->second;
}

// Under the deadline that the head had: the request is one.
Task<void> AdminServer::Impl::read_body(Connection& connection, Turn& turn) {
  while (!connection.body_done()) {
    const auto piece = co_await connection.read_body();
    if (!piece) co_return answer_error(turn, bad_body, piece.error());
    if (turn.body.size() + piece->size() > limits::admin_body_size_bytes) {
      co_return answer_too_large(turn);
    }
    if (bodies_bytes + piece->size() > limits::admin_threads * limits::admin_body_size_bytes) {
      co_return answer(turn, 503, "there are too many large bodies at once; try again");
    }
    turn.body += *piece;
    bodies_bytes += piece->size();
  }
}

Task<void> AdminServer::Impl::answer_with_handler(Connection& connection, Turn& turn) {
  if (turn.route->quick) co_return call_handler(turn);
  net::Waiter waiter(connection.core());
  workers.run([&turn, bell = waiter.bell()] {
    call_handler(turn);
    bell->wake();
  });
  const bool woken = co_await waiter.wait(SteadyPoint::max());
  RINGSIDE_CHECK(woken);  // stop() waits for us before it stops the core
}

AdminServer::AdminServer() : impl_(std::make_unique<Impl>()) {}

AdminServer::~AdminServer() { stop(); }

void AdminServer::on(std::string method, std::string path, Handler handler) {
  impl_->add(std::move(method), std::move(path), {std::move(handler), false});
}

void AdminServer::on_quick(std::string method, std::string path, Handler handler) {
  impl_->add(std::move(method), std::move(path), {std::move(handler), true});
}

Result<void> AdminServer::start(const Endpoint& listen) {
  RINGSIDE_CHECK(!impl_->started);
  if (const auto listening = impl_->server.listen(listen); !listening) {
    return invalid_input("for administrators: " + listening.error().message);
  }
  impl_->started = true;
  impl_->workers.start();
  impl_->cores.start();
  return {};
}

Endpoint AdminServer::address() const { return impl_->server.address(); }

// 1. Nothing is accepted any more, and whoever is not being answered is closed.
// 2. The answers in hand go on: of a client that does not read, for limits::admin_io_timeout.
// 3. With the connections gone, so are the threads.
void AdminServer::stop() {
  RINGSIDE_CHECK(!impl_->workers.include_caller());  // not from a handler
  if (!impl_->cores.running()) return;
  impl_->server.drain();
  impl_->cores.on_each([this](net::Core&) {
    for (const Impl::Client& client : impl_->clients) {
      if (client.phase != Impl::Phase::answering) client.connection.close();
    }
  });
  while (impl_->server.open_connections() != 0) std::this_thread::sleep_for(limits::drain_poll);
  impl_->cores.stop();
  impl_->workers.stop();
}

}  // namespace ringside::http
