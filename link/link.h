#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/task.h"
#include "hop/upstream.h"
#include "http1/pool.h"
#include "link/channel.h"
#include "link/frame.h"

namespace ringside::link {

// Who waits for an answer. Told exactly once, and of interim responses before that.
class Asked {
 public:
  virtual ~Asked() = default;
  // An answer, a ticket, a failure or an interim response.
  virtual void deliver(const Frame& frame) = 0;
  virtual void fail(const Error& error) = 0;
  // Its time is over, whatever comes.
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
};

// The asking end of a link: requests go out as they come, answers come back in any order. On one
// core's thread; whoever waits keeps it.
class Link final : public std::enable_shared_from_this<Link>, private FrameSink {
 public:
  // The lease's connection has switched to the link.
  Link(net::Core& core, http::Pool::Lease lease);

  // Until the link has ended; its requests have failed then. To be spawned, once.
  Task<Error> run();
  // Whether it takes another request.
  [[nodiscard]] bool has_room() const noexcept;
  // Requires has_room() and is_carried(). `asked` is told of the outcome, never from within.
  [[nodiscard]] Stream ask(const hop::UpstreamRequest& request, Asked& asked);
  // `asked` is over: it is told that it has failed, later.
  void give_up(Stream stream);
  // `asked` waits no more and is not told anything.
  void leave(Stream stream);

  // No more requests; it ends when nobody waits any more.
  void retire();
  [[nodiscard]] bool is_retired() const noexcept { return retired_; }
  [[nodiscard]] const http::Pool::Lease& lease() const noexcept { return lease_; }
  // Nobody waits, and nobody has since then.
  [[nodiscard]] std::optional<SteadyPoint> idle_since() const noexcept;
  // How many have come.
  [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }

 private:
  enum class State : std::uint8_t { free, asked, left };
  struct Place {
    State state = State::free;
    Asked* asked = nullptr;  // of State::asked
  };

  Result<void> take(const Frame& frame) override;
  void cancel(Stream stream);
  void free(Stream stream);
  void close_if_done();

  net::Core& core_;
  http::Pool::Lease lease_;
  Channel channel_;
  std::vector<Place> places_;  // by stream
  std::vector<Stream> free_;
  SteadyPoint used_;
  std::uint64_t frames_ = 0;
  bool retired_ = false;
  bool ended_ = false;
};

}  // namespace ringside::link
