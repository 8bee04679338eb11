#include "link/answering.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/limits.h"
#include "hop/request_in_hand.h"
#include "http/caller.h"
#include "http/field_lines.h"
#include "http1/turn.h"
#include "link/frame.h"
#include "link/gathering.h"

namespace ringside::link {
namespace {

hop::Sent left() {
  return {0, 0, {}, Error{ErrorKind::disconnected, ErrorSource::client, Retry::no, "left"}};
}

constexpr std::size_t spare_most = 64;

// Up to here to copy costs less than to point at it.
constexpr std::size_t copied_body_size_bytes = 4 * limits::kKiB;

Error wrong(const char* what) {
  return {ErrorKind::malformed, ErrorSource::client, Retry::no, what};
}

// What the answer says of its length; nullopt: nothing.
std::optional<std::uint64_t> told_length_bytes(const http::Response& response) {
  const auto digits = http::fields_of(response.fields.text()).first("content-length");
  if (!digits) return std::nullopt;
  std::uint64_t length = 0;
  std::from_chars(digits->data(), digits->data() + digits->size(), length);
  return length;
}

}  // namespace

// One request, and who has sent it as its handler sees it.
class Answering::Served final : public http::Caller, public Begun {
 public:
  Served(Answering& link, std::unique_ptr<hop::Handler> handler)
      : from_(link.connection_.remote()),
        handler_(std::move(handler)),
        request_(link.connection_.core(), *handler_, link.log_) {}
  // What nobody has taken is to be counted as well.
  ~Served() override {
    if (is_open()) end(left());
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  // An Error: the payload is no request.
  [[nodiscard]] Result<void> begin(Answering& link, Stream stream, std::string_view payload) {
    if (bytes_.capacity() > limits::kept_block_size_bytes) bytes_ = {};
    bytes_.assign(payload);
    if (auto read = read_request(bytes_, request_.head()); !read) return read;
    link_ = &link;
    stream_ = stream;
    is_head_ = request_.head().method == "HEAD";
    request_.begin(from_, true);
    return {};
  }
  void end(const hop::Sent& sent) { request_.end(sent); }
  // Nobody waits for it on the link any more.
  void leave() noexcept { link_ = nullptr; }
  [[nodiscard]] bool is_waited_for() const noexcept { return link_ != nullptr; }
  [[nodiscard]] Stream stream() const noexcept { return stream_; }
  [[nodiscard]] bool is_open() const noexcept { return request_.is_open(); }
  [[nodiscard]] bool is_head() const noexcept { return is_head_; }
  [[nodiscard]] hop::RequestInHand& in_hand() noexcept override { return request_; }

  [[nodiscard]] const IpAddress& address() const noexcept override { return from_; }
  [[nodiscard]] std::optional<Result<http::Pulled>> take() override {
    return http::Pulled{{}, true};
  }
  [[nodiscard]] Task<Result<http::Pulled>> pull() override {
    co_return Result<http::Pulled>(http::Pulled{{}, true});
  }
  void interrupt() noexcept override {}
  [[nodiscard]] Task<Result<void>> tell(const http::ResponseHead& interim,
                                        Milliseconds /*timeout*/) override {
    if (link_ != nullptr) append_interim(link_->channel_.out(), stream_, interim);
    co_return Result<void>();
  }
  void give_up() noexcept override {}

 private:
  const IpAddress from_;
  const std::unique_ptr<hop::Handler> handler_;
  hop::RequestInHand request_;
  std::string bytes_;          // what the request's views lead to
  Answering* link_ = nullptr;  // that waits for the answer
  Stream stream_ = 0;
  bool is_head_ = false;
};

Answering::Answering(http::Connection& connection, hop::Handler& known, hop::AccessLog::Queue* log,
                     Tickets& tickets)
    : connection_(connection),
      known_(known),
      log_(log),
      tickets_(tickets),
      channel_(connection, Channel::End::answers),
      cancels_since_(connection.core().steady_now()) {}

Answering::~Answering() = default;

Task<Error> Answering::run() {
  // What comes on it may leave by HTTP/1.1.
  const net::Errand errand(connection_.core());
  connection_.on_drain([this] { go_away(); });
  if (connection_.core().draining()) go_away();
  Error end = co_await channel_.run(*this);
  connection_.on_drain(nullptr);
  for (const auto& served : streams_) {
    if (served) served->leave();
  }
  co_await serving_;
  co_return end;
}

void Answering::go_away() {
  if (leaves_at_) return;
  leaves_at_ = connection_.core().steady_now() + limits::link_pause;
  append_word(channel_.out(), FrameType::going_away, 0, "draining");
}

Result<void> Answering::take(const Frame& frame) {
  switch (frame.type) {
    case FrameType::request:
      return begin(frame);
    case FrameType::cancel:
      return cancel(frame.stream);
    case FrameType::going_away:
      return {};
    case FrameType::answer:
    case FrameType::interim:
    case FrameType::ticket:
    case FrameType::failed:
      break;
  }
  return wrong("link: a frame that is for who asks");
}

Result<void> Answering::begin(const Frame& frame) {
  if (frame.stream >= limits::link_streams) return wrong("link: too many requests at once");
  if (frame.stream >= streams_.size()) streams_.resize(frame.stream + 1);
  if (streams_[frame.stream]) return wrong("link: a stream that is used twice");
  if (served_ >= 2 * limits::link_streams) {
    append_word(channel_.out(), FrameType::failed, frame.stream, "too many cancelled requests");
    return {};
  }
  const SteadyPoint now = connection_.core().steady_now();
  if (leaves_at_ && *leaves_at_ < now) return wrong("link: requests after it was to end");
  std::shared_ptr<Served> served;
  if (spare_.empty()) {
    auto handler = known_.beside();
    if (!handler) return wrong("link: requests of who has not proved membership");
    served = std::make_shared<Served>(*this, std::move(handler));
  } else {
    served = std::move(spare_.back());
    spare_.pop_back();
  }
  if (auto begun = served->begin(*this, frame.stream, frame.payload); !begun) return begun;
  // Who proved membership by a key that is none any more is to prove it anew.
  if (served->in_hand().handler().requests_per_connection() == 0) go_away();
  streams_[frame.stream] = served;
  ++in_hand_;
  ++served_;
  channel_.set_busy(true);
  serving_.begin();
  begin_detached(serve(std::move(served)));
  return {};
}

Task<void> Answering::serve(std::shared_ptr<Served> served) {
  hop::RequestInHand& request = served->in_hand();
  if (const auto admitted = http::admit(connection_.core(), request.head()); !admitted) {
    request.handler().refuse(admitted.error(), request.response());
  } else {
    co_await request.handler().answer(request.head(), *served, request.response());
  }
  if (served->is_waited_for() && request.response().body.has_source()) {
    co_await gather(served);
  } else if (served->is_waited_for()) {
    answer(served);
  }
  if (served->is_open() && !served->is_waited_for() && served.use_count() == 1) {
    served->end(left());
  }
  const bool can_be_used_again = served.use_count() == 1 && !served->is_open();
  if (can_be_used_again && spare_.size() < spare_most) spare_.push_back(std::move(served));
  --served_;
  serving_.end();
}

// A body that comes from elsewhere: most are small, and there in a moment.
Task<void> Answering::gather(std::shared_ptr<Served> served) {
  http::Response& response = served->in_hand().response();
  const auto length = told_length_bytes(response);
  if (served->is_head() || (length && *length > limits::link_body_size_bytes)) {
    answer(served);
    co_return;
  }
  net::Core& core = connection_.core();
  const auto gathering =
      std::make_shared<Gathering>(core, std::move(response.body), std::shared_ptr<void>(served));
  const auto whole = co_await gathering->run(limits::link_body_size_bytes,
                                             core.steady_now() + limits::link_patience);
  if (!whole) {
    served->in_hand().handler().refuse(whole.error(), response);
  } else if (*whole) {
    response.body = http::Body(gathering->take_text());
  } else {
    response.body = gathering->rest();
  }
  if (served->is_waited_for()) answer(served);
}

void Answering::end_stream(const Served& served) {
  streams_[served.stream()] = nullptr;
  --in_hand_;
  channel_.set_busy(in_hand_ != 0);
}

// What is whole and small goes out here; all else waits for the request that takes it.
void Answering::answer(const std::shared_ptr<Served>& served) {
  http::Response& response = served->in_hand().response();
  http::Pulled content{{}, true};
  const bool is_there = !response.body.has_source() && !response.tunnel;
  if (is_there && !served->is_head()) content = **response.body.take();
  std::size_t size = 0;
  for (const std::string_view piece : content.pieces) size += piece.size();
  std::string& out = channel_.out();
  const bool is_whole = (is_there || served->is_head()) && size <= limits::link_body_size_bytes;
  if (is_whole && append_answer_head(out, served->stream(), response, size)) {
    const auto owner = size > copied_body_size_bytes ? response.body.owner() : nullptr;
    for (const std::string_view piece : content.pieces) {
      if (owner) {
        channel_.add_shared(piece, owner);
      } else {
        out.append(piece);
      }
    }
    hop::Sent sent;
    sent.status = response.status;
    sent.body_bytes = size;
    end_stream(*served);
    served->leave();
    return served->end(sent);
  }
  end_stream(*served);
  served->leave();
  const std::uint64_t number = tickets_.add(served);
  append_ticket(out, served->stream(), number);
  known_.count(LinkEvent::ticket);
  if (number == 0) served->end(left());  // it is asked for anew
}

Result<void> Answering::cancel(Stream stream) {
  const SteadyPoint now = connection_.core().steady_now();
  if (now - cancels_since_ > limits::link_cancel_window) {
    cancels_ = 0;
    cancels_since_ = now;
  }
  if (++cancels_ > limits::link_cancels) return wrong("link: too many cancels");
  // One that crosses the answer is about nothing any more.
  if (stream >= streams_.size() || !streams_[stream]) return {};
  const std::shared_ptr<Served> served = streams_[stream];
  end_stream(*served);
  served->leave();
  append_word(channel_.out(), FrameType::failed, stream, "cancelled");
  return {};
}

}  // namespace ringside::link
