#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/join.h"
#include "base/task.h"
#include "http1/connection.h"
#include "link/frame.h"
#include "net/core.h"
#include "net/deadlines.h"
#include "net/waiter.h"

namespace ringside::link {

// Who is given the frames that come. Views into them end with the call. An Error closes the link.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  [[nodiscard]] virtual Result<void> take(const Frame& frame) = 0;
};

// A connection that carries frames, in either role. All that came together is handled before
// anything is sent, and what was gathered until then goes out in one piece, at the end of the
// core's turn. On the core's thread.
class Channel final : private net::TurnEnd, private net::Deadline {
 public:
  // Who answers closes a link that is idle, and reads no more while its answers are not taken. Who
  // asks does neither: it has room for what it asks for, and if both waited nobody would go on.
  enum class End { asks, answers };
  // The connection outlives the channel.
  Channel(http::Connection& connection, End end);
  ~Channel() override;

  // What is to be sent: frames are appended to it.
  [[nodiscard]] std::string& out();
  // The bytes that follow what was appended so far; `owner` keeps them.
  void add_shared(std::string_view bytes, std::shared_ptr<const void> owner);

  // Gives the frames that come to the sink, until the connection ends: the Error says why. Nothing
  // is sent after it.
  Task<Error> run(FrameSink& sink);
  // Whether requests are in hand: then the silence of the other end is none.
  void set_busy(bool busy) noexcept;
  // Ends run().
  void close() noexcept;

 private:
  // Bytes in the order in which they go out: of `text` up to each shared piece, then that piece.
  struct Batch {
    struct Shared {
      std::size_t text_bytes;  // that come before it
      std::string_view bytes;
      std::shared_ptr<const void> owner;
    };
    std::string text;
    std::vector<Shared> shared;
    std::size_t shared_bytes = 0;
    [[nodiscard]] std::size_t size_bytes() const noexcept { return text.size() + shared_bytes; }
    void clear();
    void add_views_to(std::vector<std::string_view>& views) const;
  };

  void end_turn() noexcept override;
  void expire() noexcept override;
  void fail(Error why) noexcept;
  void send();
  Task<void> send_rest(std::size_t written);
  [[nodiscard]] bool is_full() const noexcept;
  Task<Result<void>> wait_for_room(FrameSink& sink);
  Result<void> receive(FrameSink& sink);
  Result<void> take_frames(std::string_view bytes, FrameSink& sink);
  void watch_silence() noexcept;

  http::Connection& connection_;
  const End end_;
  const ErrorSource other_end_;
  std::string rest_;  // that was received and not handled yet
  Batch gathered_;
  Batch sending_;
  std::vector<std::string_view> buffers_;  // of sending_
  std::optional<Error> why_;               // it was closed here
  net::Waiter room_;
  Join sender_;
  bool is_sending_ = false;  // the socket is full
  bool waits_for_room_ = false;
  bool is_busy_ = false;
  bool is_within_frame_ = false;
};

}  // namespace ringside::link
