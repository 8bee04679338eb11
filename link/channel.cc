#include "link/channel.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/limits.h"

namespace ringside::link {
namespace {

constexpr std::size_t kept_text_size_bytes = 256 * limits::kKiB;

}  // namespace

void Channel::Batch::clear() {
  shared.clear();
  shared_bytes = 0;
  if (text.capacity() > kept_text_size_bytes) text = {};
  text.clear();
}

void Channel::Batch::add_views_to(std::vector<std::string_view>& views) const {
  const std::string_view all = text;
  std::size_t done = 0;
  for (const Shared& piece : shared) {
    if (piece.text_bytes != done) views.push_back(all.substr(done, piece.text_bytes - done));
    views.push_back(piece.bytes);
    done = piece.text_bytes;
  }
  if (done != all.size()) views.push_back(all.substr(done));
}

Channel::Channel(http::Connection& connection, End end)
    : Deadline(connection.core().deadlines()),
      connection_(connection),
      end_(end),
      other_end_(end == End::asks ? ErrorSource::peer : ErrorSource::client),
      room_(connection.core()) {
  connection_.lift_rate();
  connection_.clear_deadline();
}

Channel::~Channel() = default;

std::string& Channel::out() {
  if (!TurnEnd::is_linked()) connection_.core().add(static_cast<net::TurnEnd&>(*this));
  return gathered_.text;
}

void Channel::add_shared(std::string_view bytes, std::shared_ptr<const void> owner) {
  gathered_.shared.push_back({gathered_.text.size(), bytes, std::move(owner)});
  gathered_.shared_bytes += bytes.size();
}

void Channel::fail(Error why) noexcept {
  if (!why_) why_ = std::move(why);
  connection_.close();
}

void Channel::close() noexcept {
  fail({ErrorKind::disconnected, other_end_, Retry::no, "link: closed"});
}

void Channel::end_turn() noexcept {
  if (!is_sending_) send();
}

void Channel::send() {
  std::swap(gathered_, sending_);
  buffers_.clear();
  sending_.add_views_to(buffers_);
  const auto written = connection_.write_now(buffers_);
  if (!written) {
    sending_.clear();
    return fail(written.error());
  }
  if (*written == sending_.size_bytes()) {
    sending_.clear();
    if (waits_for_room_) room_.bell()->wake();
    return;
  }
  is_sending_ = true;
  sender_.begin();
  begin_detached(send_rest(*written));
}

Task<void> Channel::send_rest(std::size_t written) {
  const auto sent = co_await connection_.write_rest(buffers_, written, limits::upstream_io_timeout);
  connection_.clear_deadline();
  sending_.clear();
  is_sending_ = false;
  if (!sent) fail(sent.error());
  if (gathered_.size_bytes() != 0) static_cast<void>(out());  // it is to be sent with this turn
  room_.bell()->wake();
  sender_.end();
}

bool Channel::is_full() const noexcept {
  return end_ == End::answers &&
         gathered_.size_bytes() + sending_.size_bytes() > limits::link_unsent_bytes;
}

void Channel::expire() noexcept {
  fail({is_within_frame_ ? ErrorKind::malformed : ErrorKind::timeout, other_end_, Retry::no,
        is_within_frame_ ? "link: half a frame and silence" : "link: idle"});
}

void Channel::set_busy(bool busy) noexcept {
  if (is_busy_ == busy) return;
  is_busy_ = busy;
  watch_silence();
}

// Half a frame is soon followed by the rest of it.
void Channel::watch_silence() noexcept {
  const SteadyPoint now = connection_.core().steady_now();
  const bool was_within_frame = std::exchange(is_within_frame_, !rest_.empty() && !is_full());
  if (is_within_frame_) {
    if (!was_within_frame) Deadline::set(now + limits::link_frame_timeout);
  } else if (end_ == End::answers && !is_busy_ && rest_.empty()) {
    Deadline::set(now + limits::client_idle_timeout);
  } else {
    Deadline::clear();
  }
}

// What has come, behind what was left of the last time; frames that are whole are handled where
// they lie, before anything else is received there.
Result<void> Channel::receive(FrameSink& sink) {
  const std::span<char> space = connection_.core().large_scratch();
  std::copy(rest_.begin(), rest_.end(), space.begin());
  const auto received = connection_.read_now(space.subspan(rest_.size()));
  if (!received) return {};
  if (!*received) return received->error();
  if (**received == 0) {
    return Error{ErrorKind::disconnected, other_end_, Retry::no, "link: closed"};
  }
  const std::string_view bytes(space.data(), rest_.size() + **received);
  rest_.clear();
  return take_frames(bytes, sink);
}

Result<void> Channel::take_frames(std::string_view bytes, FrameSink& sink) {
  while (!is_full()) {
    const auto taken = take_frame(bytes, other_end_);
    if (!taken) return taken.error();
    if (!taken->frame) break;
    is_within_frame_ = false;
    bytes.remove_prefix(taken->size_bytes);
    if (auto handled = sink.take(*taken->frame); !handled) return handled;
  }
  rest_.assign(bytes);
  return {};
}

// Until the other end has taken enough of what was answered; then what had come meanwhile is next.
Task<Result<void>> Channel::wait_for_room(FrameSink& sink) {
  Result<void> taken;
  waits_for_room_ = true;
  while (taken && is_full() && !connection_.is_over() && !connection_.core().stopped()) {
    watch_silence();
    static_cast<void>(
        co_await room_.wait(connection_.core().steady_now() + limits::upstream_io_timeout));
    if (!is_full()) taken = take_frames(std::exchange(rest_, {}), sink);
  }
  waits_for_room_ = false;
  co_return taken;
}

Task<Error> Channel::run(FrameSink& sink) {
  // What came with the end of HTTP/1.1.
  auto taken = take_frames(connection_.raw(), sink);
  connection_.consume_raw(connection_.raw().size());
  while (taken && !why_) {
    if (is_full()) taken = co_await wait_for_room(sink);
    if (!taken) break;
    watch_silence();
    if (!connection_.is_over()) static_cast<void>(co_await connection_.until_readable());
    taken = receive(sink);
  }
  Deadline::clear();
  const Error end = why_ ? *why_ : taken.error();
  connection_.close();
  connection_.shutdown_send();  // who asks is not to wait for what does not come
  co_await sender_;
  co_return end;
}

}  // namespace ringside::link
