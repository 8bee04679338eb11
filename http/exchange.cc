#include "http/exchange.h"

#include <algorithm>
#include <array>

#include "base/limits.h"

namespace ringside::http {
namespace {

constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Task<Result<void>> Exchange::ask(const Endpoint& address, const OutgoingRequest& request,
                                 const ExchangeLimits& limits) {
  address_ = address;
  const bool repeatable = request.body == nullptr && is_idempotent(request.method);
  if (auto idle = pool_.take_idle(address, !repeatable)) {
    lease_ = std::move(*idle);
    auto answered = co_await send_and_read(request, limits);
    const bool went_stale = !answered && answered.error().kind == ErrorKind::disconnected &&
                            !lease_.connection->anything_received() && repeatable;
    if (!went_stale || core_.stopped()) co_return answered;
  }
  const SteadyPoint connect_by =
      std::min(limits.deadline, core_.steady_now() + limits.connect_timeout);
  auto connected = co_await pool_.connect(address, connect_by);
  if (!connected) co_return connected.error();
  lease_ = std::move(*connected);
  co_return co_await send_and_read(request, limits);
}

Task<Result<void>> Exchange::send_body(const OutgoingRequest& request) {
  body_touched_ = true;
  if (request.tell_to_continue) {
    const std::array<asio::const_buffer, 1> line{asio::buffer(continue_line)};
    request.body->set_deadline(limits::client_io_timeout);
    const auto told = co_await request.body->write(line);
    if (!told) co_return told.error();
  }
  const RelayLimits relay_limits{limits::client_io_timeout, limits::upstream_io_timeout,
                                 limits::request_body_size_bytes};
  std::string_view no_head;
  const auto sent =
      co_await relay(*request.body, *lease_.connection, no_head, request.body_coding, relay_limits);
  if (!sent) co_return sent.error();
  co_return Result<void>();
}

Task<Result<void>> Exchange::send_and_read(const OutgoingRequest& request,
                                           const ExchangeLimits& limits) {
  Connection& connection = *lease_.connection;
  connection.mark();
  connection.set_deadline(
      std::min(limits.deadline, core_.steady_now() + limits.first_byte_timeout));
  const auto failed = [&](Error error) {
    const bool unseen = !connection.anything_received() && !body_touched_;
    error.retry = unseen && is_idempotent(request.method) ? Retry::yes : Retry::no;
    return error;
  };
  const std::array<asio::const_buffer, 1> head{
      asio::const_buffer(request.head.data(), request.head.size())};
  const auto written = connection.write_now(head);
  if (!written) co_return failed(written.error());
  if (*written < request.head.size()) {
    const auto rest = co_await connection.write_rest(head, *written);
    if (!rest) co_return failed(rest.error());
  }
  if (request.body != nullptr) {
    const auto sent = co_await send_body(request);
    // An upstream that refuses a body may answer and close before it has read it all: the answer is
    // worth more than the error.
    if (!sent && sent.error().source == ErrorSource::client) co_return sent.error();
    connection.set_deadline(core_.steady_now() + limits.first_byte_timeout);
  }
  for (unsigned heads = 0; heads <= limits::interim_responses; ++heads) {
    const auto read =
        co_await connection.read_response(HeadLimits::defaults(), request.method, head_);
    if (!read) co_return failed(read.error());
    if (head_.status >= 200) co_return Result<void>();
    if (head_.status == 101) break;
  }
  co_return Error{ErrorKind::malformed, pool_.other_side(), Retry::no,
                  "an interim response that was not asked for"};
}

void Exchange::finish() {
  if (!lease_.connection || !lease_.connection->body_done() || !head_.keep_alive) return;
  pool_.give_back(address_, std::move(lease_.connection));
}

}  // namespace ringside::http
