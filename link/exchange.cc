#include "link/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "http/internal_fields.h"

namespace ringside::link {

Exchange::Exchange(Links& links) : Deadline(links.core().deadlines()), links_(links) {}

Exchange::~Exchange() {
  hold(nullptr);
  if (link_) link_->leave(stream_);
  links_.core().buffered_bytes() -= held_bytes_;
  if (space_) links_.give_back(std::move(space_));
}

// A slow client keeps what was answered; it counts like what lies in a connection's buffer.
void Exchange::hold_bytes(std::size_t bytes) noexcept {
  held_bytes_ += bytes;
  links_.core().buffered_bytes() += bytes;
}

void Exchange::begin(std::shared_ptr<Link> link, const hop::UpstreamRequest& request,
                     const hop::UpstreamLimits& limits) {
  link_ = std::move(link);
  const SteadyPoint now = links_.core().steady_now();
  method_ = request.method;
  reads_fields_ = request.reads_fields;
  frames_before_ = link_->frames();
  stream_ = link_->ask(request, *this);
  Deadline::set(std::min(limits.deadline, now + limits.first_byte_timeout));
}

Task<Result<void>> Exchange::ask(const UpstreamAddress& address,
                                 const hop::UpstreamRequest& request,
                                 const hop::UpstreamLimits& limits) {
  struct Told {
    Exchange& exchange;
    [[nodiscard]] bool await_ready() const noexcept {
      return exchange.answered_ || exchange.failure_ || exchange.ticket_ ||
             !exchange.interims_.empty();
    }
    void await_suspend(std::coroutine_handle<> waiting) const noexcept {
      exchange.waiting_ = waiting;
    }
    void await_resume() const noexcept {}
  };
  hop::UpstreamRequest plain = request;
  if (auto link = is_carried(request) ? links_.find(address, request.peer) : nullptr) {
    begin(std::move(link), request, limits);
    Told told_anything{*this};
    while (true) {
      co_await told_anything;
      if (interims_.empty()) break;
      if (const auto told = co_await pass_interim_on(request); !told) co_return told.error();
    }
    Deadline::clear();
    if (answered_) co_return Result<void>();
    if (failure_ && (!is_stale() || !may_repeat(request))) co_return failure(request);
    if (is_over()) co_return failure(request);
    if (ticket_) links_.count(LinkEvent::ticket);
    if (ticket_ && *ticket_ != 0) {
      fields_.assign(request.fields);
      fields_.append(http::internal::ticket).append(fmt::format(": {:016x}\r\n", *ticket_));
      plain.fields = fields_;
    }
  }
  plain_ = links_.plain().exchange();
  auto answered = co_await plain_->ask(address, plain, limits);
  if (answered) links_.learn(address, request.peer, plain_->head());
  co_return answered;
}

// As http1/exchange.cc does.
Task<Result<void>> Exchange::pass_interim_on(const hop::UpstreamRequest& request) {
  const std::string payload = std::move(interims_.front());
  interims_.erase(interims_.begin());
  http::ResponseHead head;
  if (const auto read = read_interim(payload, head); !read) co_return read.error();
  if (interim_count_ > limits::interim_responses) {
    co_return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
                    "link: too many interim responses"};
  }
  if (request.interim_to == nullptr || interim_given_up_ || head.status == 100) {
    co_return Result<void>();
  }
  if (!request.interim_is_optional) {
    co_return co_await request.interim_to->tell(head, limits::client_io_timeout);
  }
  const auto told = co_await request.interim_to->tell(head, limits::interim_timeout);
  interim_given_up_ = !told;
  if (!told) request.interim_to->give_up();
  co_return Result<void>();
}

// The link broke, or the member did not take the request on it, and nothing has come of the
// request. That says as little of the member as a pooled connection that was closed: many requests
// share one link, and its end is no failure of each. HTTP/1.1 finds out whether the member is
// there.
bool Exchange::is_stale() const noexcept {
  return failure_->kind == ErrorKind::disconnected && failure_->source == ErrorSource::peer &&
         !was_answered_ && interim_count_ == 0 && !given_up_ && !links_.core().stopped();
}

// Many requests end with one link: what is asked again adds to the load just when a member fails.
bool Exchange::may_repeat(const hop::UpstreamRequest& request) const noexcept {
  return request.repeats == nullptr || request.repeats->spend(links_.core().steady_now());
}

// What a failure means for asking elsewhere.
Error Exchange::failure(const hop::UpstreamRequest& request) const {
  Error error{ErrorKind::timeout, ErrorSource::peer, Retry::no, "no progress before the deadline"};
  if (given_up_) {
    error.message = "given up: the upstream does not answer probes either";
  } else if (failure_) {
    error = *failure_;
  }
  error.retry = !was_answered_ && interim_count_ == 0 && http::is_idempotent(request.method)
                    ? Retry::yes
                    : Retry::no;
  return error;
}

void Exchange::go_on() {
  if (waiting_) std::exchange(waiting_, nullptr).resume();
}

// An answer that is none concerns nobody else on the link: its frame was whole.
void Exchange::deliver(const Frame& frame) {
  if (frame.type == FrameType::interim) {
    // One too many is told as well, to be found so.
    if (++interim_count_ > limits::interim_responses + 1) return;
    interims_.emplace_back(frame.payload);
    hold_bytes(frame.payload.size());
    return go_on();
  }
  link_ = nullptr;
  Result<void> is_right;
  if (frame.type == FrameType::answer) {
    was_answered_ = true;
    space_ = links_.take_space();
    space_->bytes.assign(frame.payload);
    hold_bytes(space_->bytes.capacity());
    is_right = read_answer(space_->bytes, method_ == "HEAD", space_->answer);
    answered_ = is_right.has_value();
    if (answered_ && reads_fields_) {
      http::ResponseHead& head = space_->answer.head;
      head.fields = http::fields_of(head);
      head.ready_lines = {};
    }
  } else if (frame.type == FrameType::ticket) {
    const auto number = read_ticket(frame.payload);
    if (number) {
      ticket_ = *number;
    } else {
      is_right = number.error();
    }
  } else {
    failure_ = Error{ErrorKind::disconnected, ErrorSource::peer, Retry::no,
                     "link: " + std::string(frame.payload)};
  }
  if (!is_right) failure_ = is_right.error();
  go_on();
}

void Exchange::fail(const Error& error) {
  failure_ = error;
  const auto link = std::exchange(link_, nullptr);
  // The member may be slow, or the connection dead, which nobody would notice: what comes next goes
  // over HTTP/1.1, and a new link. Others may still be answered on this one: who watches over them
  // gives them up, each for itself.
  if (given_up_ || (is_over_ && link->frames() == frames_before_)) link->retire();
  go_on();
}

void Exchange::expire() noexcept {
  is_over_ = true;
  if (link_) link_->give_up(stream_);
}

void Exchange::give_up() noexcept {
  given_up_ = true;
  if (plain_) return plain_->give_up();
  if (link_) link_->give_up(stream_);
}

std::optional<Result<http::Pulled>> Exchange::take() {
  if (plain_) return plain_->take();
  const std::string_view& content = space_->answer.content;
  return http::Pulled{{&content, content.empty() ? 0U : 1U}, true};
}

Task<Result<http::Pulled>> Exchange::pull() {
  if (plain_) return plain_->pull();
  return [](Exchange& self) -> Task<Result<http::Pulled>> { co_return *self.take(); }(*this);
}

}  // namespace ringside::link
