#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/join.h"
#include "base/task.h"
#include "hop/access_log.h"
#include "hop/handler.h"
#include "http1/connection.h"
#include "link/channel.h"
#include "link/tickets.h"

namespace ringside::link {

// The answering end of a link: requests come, each goes through a handler of its own, and the
// answers that are ready together go out together. On one core's thread.
class Answering final : private FrameSink {
 public:
  // `known` is the connection's handler, by which the others know who asks. All outlive it.
  Answering(http::Connection& connection, hop::Handler& known, hop::AccessLog::Queue* log,
            Tickets& tickets);
  ~Answering() override;

  // Until the link has ended and nothing that came on it is being answered any more; what is under
  // a ticket goes on. The Error says why it has ended.
  Task<Error> run();

 private:
  class Served;
  Result<void> take(const Frame& frame) override;
  Result<void> begin(const Frame& frame);
  Result<void> cancel(Stream stream);
  Task<void> serve(std::shared_ptr<Served> served);
  Task<void> gather(std::shared_ptr<Served> served);
  void answer(const std::shared_ptr<Served>& served);
  void end_stream(const Served& served);
  void go_away();

  http::Connection& connection_;
  hop::Handler& known_;
  hop::AccessLog::Queue* const log_;
  Tickets& tickets_;
  Channel channel_;
  std::vector<std::shared_ptr<Served>> streams_;  // by stream; null: none
  std::vector<std::shared_ptr<Served>> spare_;
  std::size_t in_hand_ = 0;  // requests that are waited for
  std::size_t served_ = 0;   // and those that are not any more
  Join serving_;
  unsigned cancels_ = 0;  // since cancels_since_
  SteadyPoint cancels_since_;
  std::optional<SteadyPoint> leaves_at_;  // requests are taken until then
};

}  // namespace ringside::link
