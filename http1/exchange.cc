#include "http1/exchange.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/limits.h"
#include "http/error_response.h"
#include "http1/head_text.h"
#include "http1/upload.h"

namespace ringside::http {
namespace {

// What we tell of ourselves: go on.
ResponseHead continue_head() {
  ResponseHead head;
  head.status = 100;
  head.reason = reason_of(head.status);
  return head;
}

}  // namespace

Task<Result<void>> Exchange::ask(const UpstreamAddress& address,
                                 const hop::UpstreamRequest& request,
                                 const hop::UpstreamLimits& limits) {
  address_ = address;
  body_deadline_ = limits.body_deadline;
  const bool repeatable = request.body == nullptr && is_idempotent(request.method);
  // What an origin has sent while nothing was asked must not become the answer (RFC 9112 §9.2). Our
  // own replicas send nothing unasked, so for them the look, a system call, is saved.
  const bool must_be_quiet = pool_.other_side() == ErrorSource::origin;
  if (auto idle = pool_.take_idle(address, must_be_quiet || !repeatable, request.peer)) {
    lease_ = std::move(*idle);
    auto answered = co_await send_and_read(request, limits);
    answered_ = answered.has_value();
    const bool went_stale = !answered && answered.error().kind == ErrorKind::disconnected &&
                            !lease_.connection->anything_received() && repeatable;
    if (!went_stale || core_.stopped()) co_return answered;
    lease_ = {};  // A place is not waited for with another in hand.
  }
  const SteadyPoint connect_by =
      std::min(limits.deadline, core_.steady_now() + limits.connect_timeout);
  // A request that may not be repeated can still go elsewhere while nothing of it was sent, so for
  // it the proof is a part of connecting.
  opening_.expect_proof_by(repeatable ? std::min(limits.deadline, connect_by + limits.proof_timeout)
                                      : connect_by);
  auto connected = co_await pool_.connect(address, connect_by, request.peer, &opening_);
  if (!connected) co_return connected.error();
  lease_ = std::move(*connected);
  if (given_up_) {
    lease_.connection->mark();
    const Error late{ErrorKind::timeout, pool_.other_side(), Retry::no, {}};
    co_return failure(late, request);
  }
  auto answered = co_await send_and_read(request, limits);
  answered_ = answered.has_value();
  co_return answered;
}

void Exchange::give_up() noexcept {
  given_up_ = true;
  opening_.give_up();
  if (lease_.connection) lease_.connection->give_up();
}

// What a failure means for asking elsewhere.
Error Exchange::failure(Error error, const hop::UpstreamRequest& request) const {
  if (given_up_ && error.source != ErrorSource::client) {
    error.kind = ErrorKind::timeout;
    error.source = pool_.other_side();
    error.message = "given up: the upstream does not answer probes either";
  }
  const bool unseen = !lease_.connection->anything_received() && !body_touched_;
  const bool client_is_there = error.source != ErrorSource::client;
  error.retry = unseen && client_is_there && is_idempotent(request.method) ? Retry::yes : Retry::no;
  return error;
}

Task<Result<void>> Exchange::tell_to_continue(const hop::UpstreamRequest& request) {
  if (told_to_continue_ || !request.expects_continue) co_return Result<void>();
  told_to_continue_ = true;
  const ResponseHead head = continue_head();
  co_return co_await request.body->tell(head, limits::client_io_timeout);
}

// RFC 9110 §15.2: interim responses are passed on, but for those that we asked for ourselves.
Task<Result<void>> Exchange::pass_interim_on(const hop::UpstreamRequest& request) {
  if (head().status == 100) co_return co_await tell_to_continue(request);
  if (request.interim_to == nullptr || interim_given_up_) co_return Result<void>();
  if (!request.interim_is_optional) {
    co_return co_await request.interim_to->tell(head(), limits::client_io_timeout);
  }
  const auto told = co_await request.interim_to->tell(head(), limits::interim_timeout);
  interim_given_up_ = !told;
  if (!told) request.interim_to->give_up();
  co_return Result<void>();
}

Task<Result<Exchange::Head>> Exchange::read_head(const hop::UpstreamRequest& request) {
  const HeadLimits limits =
      pool_.other_side() == ErrorSource::peer ? HeadLimits::between_hops() : HeadLimits::defaults();
  const auto read = co_await lease_.connection->read_response(limits, request.method,
                                                              lease_.connection->response_head());
  if (!read) co_return read.error();
  if (head().status >= 200) co_return Head::final;
  if (head().status == 101 && request.upgrades &&
      same_token(head().fields.first("upgrade").value_or(""), "websocket")) {
    co_return Head::final;
  }
  if (head().status == 101 || ++interim_heads_ > limits::interim_responses) {
    co_return Error{ErrorKind::malformed, pool_.other_side(), Retry::no,
                    "an interim response that was not asked for"};
  }
  const auto passed = co_await pass_interim_on(request);
  if (!passed) co_return passed.error();
  co_return Head::interim;
}

// RFC 9110 §10.1.1: the body waits until the upstream wants it, or refuses it; one that knows
// nothing of the expectation says nothing, so the wait is short.
Task<Result<Exchange::Head>> Exchange::wait_for_continue(const hop::UpstreamRequest& request,
                                                         const hop::UpstreamLimits& limits) {
  Connection& connection = *lease_.connection;
  while (!told_to_continue_) {
    connection.set_deadline(
        std::min(limits.deadline, core_.steady_now() + limits::continue_timeout));
    const auto head = co_await read_head(request);
    if (head && *head == Head::final) co_return head;
    const bool silent = !head && head.error().kind == ErrorKind::timeout &&
                        head.error().source == pool_.other_side() && !given_up_;
    if (!head && !silent) co_return head;
    if (!head) {
      const auto told = co_await tell_to_continue(request);
      if (!told) co_return told.error();
    }
  }
  co_return Head::interim;
}

// final: the answer came before the body was sent to its end, which is then not sent further.
Task<Result<Exchange::Head>> Exchange::send_body(const hop::UpstreamRequest& request,
                                                 const hop::UpstreamLimits& limits) {
  Connection& connection = *lease_.connection;
  body_sent_ = false;
  if (request.expects_continue) {
    const auto head = co_await wait_for_continue(request, limits);
    if (!head || *head == Head::final) co_return head;
  }
  Upload upload(*request.body, connection, request.framing.kind == Framing::Kind::chunked);
  while (!body_sent_) {
    // What came together with an interim response is no news that would interrupt the upload.
    if (!connection.anything_arrived()) {
      body_touched_ = true;
      const auto sent = co_await upload.run();
      // An upstream that refuses a body may answer and close before it has read it all: the answer
      // is worth more than the error. One whose time has run out has had it.
      const bool closed = !sent && sent.error().kind == ErrorKind::disconnected &&
                          sent.error().source != ErrorSource::client;
      if (closed) co_return Head::interim;
      if (!sent) co_return sent.error();
      body_sent_ = *sent == Upload::End::complete;
      if (body_sent_ || !connection.anything_arrived()) continue;
    }
    connection.set_deadline(core_.steady_now() + limits.first_byte_timeout);
    const auto head = co_await read_head(request);
    if (!head || *head == Head::final) co_return head;
  }
  co_return Head::interim;
}

Task<Result<void>> Exchange::send_and_read(const hop::UpstreamRequest& request,
                                           const hop::UpstreamLimits& limits) {
  Connection& connection = *lease_.connection;
  connection.mark();
  connection.set_deadline(
      std::min(limits.deadline, core_.steady_now() + limits.first_byte_timeout));
  std::string& text = connection.head_space();
  text.clear();
  append_request_head(text, request);
  const std::array<std::string_view, 1> head{text};
  const auto written = connection.write_now(head);
  if (!written) co_return failure(written.error(), request);
  if (*written < text.size()) {
    const auto rest = co_await connection.write_rest(head, *written);
    if (!rest) co_return failure(rest.error(), request);
  }
  if (request.body != nullptr) {
    const auto answered = co_await send_body(request, limits);
    if (!answered) co_return failure(answered.error(), request);
    if (*answered == Head::final) co_return Result<void>();
    connection.set_deadline(core_.steady_now() + limits.first_byte_timeout);
  }
  while (true) {
    const auto read = co_await read_head(request);
    if (!read) co_return failure(read.error(), request);
    if (*read == Head::final) co_return Result<void>();
  }
}

Result<Pulled> Exchange::pulled(const Result<std::string_view>& piece) {
  if (!piece) return piece.error();
  piece_ = *piece;
  return Pulled{{&piece_, piece_.empty() ? 0U : 1U}, lease_.connection->body_done()};
}

std::optional<Result<Pulled>> Exchange::take() {
  const auto piece = lease_.connection->take_body();
  if (!piece) return std::nullopt;
  return pulled(*piece);
}

Task<Result<Pulled>> Exchange::pull() {
  lease_.connection->set_deadline(
      std::min(body_deadline_, core_.steady_now() + limits::upstream_io_timeout));
  co_return pulled(co_await lease_.connection->read_body());
}

Exchange::~Exchange() {
  hold(nullptr);
  const bool can_be_used_again = answered_ && lease_.connection->body_done() && head().keep_alive &&
                                 body_sent_ && head().status != 101;
  if (can_be_used_again) pool_.give_back(address_, std::move(lease_));
}

}  // namespace ringside::http
