#include "http1/admin_handler.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/error_response.h"
#include "net/waiter.h"

namespace ringside::http {
namespace {

using Phase = AdminCrowd::Phase;

constexpr std::string_view not_understood = "not a request that is understood here";
constexpr std::string_view bad_body = "the body ended early, came too slowly or is malformed";

AdminServer::Answer told(int status, std::string_view text) {
  return {.status = status, .body = fmt::format("{}: {}\n", status, text)};
}

AdminServer::Answer told(std::string_view what, const Error& error) {
  return told(answer_for(error).status, fmt::format("{}: {}", what, error.message));
}

AdminServer::Answer too_large() {
  return told(413,
              fmt::format("the body may have {} bytes at most", limits::admin_body_size_bytes));
}

std::string allowed(const AdminSite::Methods& methods) {
  std::string out;
  for (const auto& [method, route] : methods) {
    out += (out.empty() ? "" : ", ") + method;
    if (method == "GET") out += ", HEAD";
  }
  return out;
}

bool has_content(const RequestHead& request) noexcept {
  return request.framing.kind == Framing::Kind::chunked || request.framing.length_bytes != 0;
}

// Whatever a handler throws is its own affair: the server goes on.
AdminServer::Answer call_guarded(const AdminServer::Handler& handler,
                                 const AdminServer::Request& request) {
  try {
    return handler(request);
  } catch (const std::exception& error) {
    log::error("admin {} failed: {}", request.path, error.what());
    return told(500, error.what());
  } catch (...) {
    log::error("admin {} failed with something that is no std::exception", request.path);
    return told(500, "the handler failed");
  }
}

}  // namespace

void AdminHandler::begin(const IpAddress& /*from*/) {
  site_.crowd.turn_to(visitor_, Phase::asking);
}

std::uint32_t AdminHandler::requests_per_connection() const {
  return limits::requests_per_connection;
}

Task<void> AdminHandler::answer(RequestHead& request, Caller& caller, Response& response) {
  Turn turn;
  // What is left of a body that was not wanted must not be read as the next request: whatever has
  // content is the last on its connection.
  const bool last = has_content(request);
  judge(request, turn);
  // Who may only read must not take the room for bodies of those who change something.
  const bool reads_body = request.method != "GET" && request.method != "HEAD";
  if (turn.route != nullptr && reads_body && request.expects_continue && !client_.body_done()) {
    ResponseHead go_on;
    go_on.status = 100;
    go_on.reason = reason_of(go_on.status);
    // Where this fails the answer will, too.
    static_cast<void>(co_await caller.tell(go_on, limits::admin_io_timeout));
  }
  if (turn.route != nullptr && reads_body) co_await read_body(turn);
  if (turn.route != nullptr) co_await call(turn);
  site_.bodies_bytes -= turn.body.size();
  give(turn, response);
  response.is_last = last;
}

void AdminHandler::refuse(const Error& error, Response& response) {
  Turn turn;
  turn.answer = told(not_understood, error);
  give(turn, response);
  response.is_last = true;
}

void AdminHandler::sent(const hop::Sent& /*sent*/) { site_.crowd.turn_to(visitor_, Phase::asking); }

void AdminHandler::judge(const RequestHead& request, Turn& turn) const {
  if (const auto refusal = refuse_access(site_.access, request, client_.remote())) {
    turn.answer = told(refusal->status, refusal->text);
    if (refusal->status == 401) {
      turn.field_name = "WWW-Authenticate";
      turn.field_value = "Bearer";
    }
    return;
  }
  if (request.framing.length_bytes > limits::admin_body_size_bytes) {
    turn.answer = too_large();
    return;
  }
  if (has_content(request) && request.fields.has("content-encoding")) {
    turn.answer = told(415, "send the body as it is, without a Content-Encoding");
    return;
  }
  if (const auto normal = normalise_target(request.target, turn.target); !normal) {
    turn.answer = told(not_understood, normal.error());
    return;
  }
  find_route(request, turn);
}

void AdminHandler::find_route(const RequestHead& request, Turn& turn) const {
  const auto methods = site_.routes.find(turn.target.path);
  if (methods == site_.routes.end()) {
    std::string text = "no such path. These are:";
    for (const auto& [path, known] : site_.routes) {
      text += fmt::format("\n  {} {}", allowed(known), path);
    }
    turn.answer = told(404, text);
    return;
  }
  const auto found = methods->second.find(request.method == "HEAD" ? "GET" : request.method);
  if (found == methods->second.end()) {
    turn.field_name = "Allow";
    turn.field_value = allowed(methods->second);
    turn.answer = told(405, fmt::format("{} takes {}", methods->first, turn.field_value));
    return;
  }
  turn.route = &found->second;
}

// Under the deadline that the head had: the request is one.
Task<void> AdminHandler::read_body(Turn& turn) {
  while (!client_.body_done()) {
    const auto piece = co_await client_.read_body();
    if (!piece) {
      turn.answer = told(bad_body, piece.error());
    } else if (turn.body.size() + piece->size() > limits::admin_body_size_bytes) {
      turn.answer = too_large();
    } else if (site_.bodies_bytes + piece->size() >
               limits::admin_threads * limits::admin_body_size_bytes) {
      turn.answer = told(503, "there are too many large bodies at once; try again");
    } else {
      turn.body += *piece;
      site_.bodies_bytes += piece->size();
      continue;
    }
    turn.route = nullptr;
    co_return;
  }
}

// What never waits is called here and now, so that it answers even while others block all threads.
Task<void> AdminHandler::call(Turn& turn) {
  const AdminServer::Request request{turn.target.path, turn.target.query, turn.body};
  const AdminServer::Handler& handler = turn.route->handler;
  if (turn.route->quick) {
    turn.answer = call_guarded(handler, request);
    co_return;
  }
  net::Waiter waiter(client_.core());
  const bool taken = site_.workers.run([&turn, &handler, &request, bell = waiter.bell()] {
    turn.answer = call_guarded(handler, request);
    bell->wake();
  });
  if (!taken) {
    turn.answer = told(503, "too many requests wait for an answer already; try again");
    co_return;
  }
  site_.crowd.turn_to(visitor_, Phase::in_hand);
  const bool woken = co_await waiter.wait(SteadyPoint::max());
  RINGSIDE_CHECK(woken);  // the workers end before the core does
}

void AdminHandler::give(Turn& turn, Response& response) {
  site_.crowd.turn_to(visitor_, Phase::answering);
  response.begin(turn.answer.status, reason_of(turn.answer.status));
  FieldLines& fields = response.fields;
  fields.add("Content-Type", turn.answer.content_type);
  fields.add("Content-Length", fmt::to_string(turn.answer.body.size()));
  fields.add("Cache-Control", "no-store");
  fields.add("X-Content-Type-Options", "nosniff");
  add_date(fields, client_.core().now());
  if (!turn.field_name.empty()) fields.add(turn.field_name, turn.field_value);
  response.body = Body(std::move(turn.answer.body));
}

}  // namespace ringside::http
